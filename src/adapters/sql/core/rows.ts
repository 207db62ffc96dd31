// What stands in a column of a row? Read by its type, so that nothing else is taken for it.

import { type SQL, sql } from 'drizzle-orm'
import { utf8Length } from '../../../domain/text'
import { type Decode, Handle, Results, readOne } from './batch'
import type { Row, SqlConnection } from './connection'

const wrong = (name: string, wanted: string): Error => new Error(`column ${name} holds no ${wanted}`)

/** A text. @throws Error where there is none */
export function str(row: Row, name: string): string {
  const value = row[name]
  if (typeof value !== 'string') throw wrong(name, 'text')
  return value
}

/** A text, or null where there is none. */
export function strOrNull(row: Row, name: string): string | null {
  const value = row[name] ?? null
  if (value !== null && typeof value !== 'string') throw wrong(name, 'text')
  return value
}

/** A text of these; what else stands there was never written by us. */
export const oneOf =
  <T extends string>(values: readonly T[]) =>
  (row: Row, name: string): T => {
    const value = values.find((one) => one === row[name])
    if (value === undefined) throw wrong(name, values.join(' or '))
    return value
  }

/** A number; NaN where there is none. */
export const num = (row: Row, name: string): number => Number(row[name])

export const numOrNull = (row: Row, name: string): number | null => {
  const value = row[name] ?? null
  return value === null ? null : Number(value)
}

/** What one database has as 0 and 1 and the other as a truth value. */
export const flag = (row: Row, name: string): boolean => Number(row[name]) === 1

/** What we wrote as JSON. @throws Error where there is none */
export const json = <T>(row: Row, name: string): T => JSON.parse(str(row, name))

/** As `json`, or null where there is none. */
export function jsonOrNull<T>(row: Row, name: string): T | null {
  const text = strOrNull(row, name)
  return text === null ? null : JSON.parse(text)
}

/** All rows, each as it says. */
export const each =
  <T>(decode: (row: Row) => T): Decode<T[]> =>
  (rows) =>
    rows.map(decode)

/** The first row, or null where there is none. */
export const firstRow =
  <T>(decode: (row: Row) => T): Decode<T | null> =>
  ([row]) =>
    row === undefined ? null : decode(row)

/** The one row that is always there. @throws Error where it is not */
export const onlyRow =
  <T>(decode: (row: Row) => T): Decode<T> =>
  ([row]) => {
    if (row === undefined) throw new Error('a statement brought no row')
    return decode(row)
  }

/** A number of the first row; 0 where there is no row, or nothing in it. */
export const countOf =
  (name = 'n'): Decode<number> =>
  ([row]) =>
    Number(row?.[name] ?? 0)

/** Numbers of a column. */
export const numbersOf = (name: string): Decode<number[]> => each((row) => num(row, name))

/** Texts of a column. */
export const textsOf = (name: string): Decode<string[]> => each((row) => str(row, name))

/** How many rows there are, whatever is in them. */
export const howMany: Decode<number> = ({ length }) => length

/** Rows for a decoder that needs to rest between them. */
export const asRows: Decode<readonly Row[]> = (rows) => rows

/** A value in D1 holds at most 2 MB. */
const MAX_JSON = 1_500_000

/**
 * Rows in groups whose JSON fits into one value.
 *
 * @param sizeOf a row's share of the JSON, in bytes
 */
export function inGroups<T>(rows: Iterable<T>, sizeOf: (row: T) => number): T[][] {
  const groups: T[][] = []
  let size = MAX_JSON
  for (const row of rows) {
    const own = sizeOf(row)
    if (size + own > MAX_JSON) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(row)
    size += own
  }
  return groups
}

/** Rows as JSON texts of arrays, each of which fits into one value; a row that is larger by itself stands alone. */
export const jsonGroups = (rows: readonly unknown[]): string[] =>
  inGroups(
    rows.map((row) => JSON.stringify(row)),
    (json) => utf8Length(json) + 1,
  ).map((group) => `[${group.join(',')}]`)

interface Part {
  readonly columns: readonly string[]
  readonly rows: SQL
  readonly handle: Handle<unknown>
}

/** Statements that bring many small rows, since a text of D1 holds 2 MB: numbers, and texts of a known length. */
export class Parts {
  private readonly parts: Part[] = []

  add<T>(columns: readonly string[], rows: SQL, decode: Decode<T>): Handle<T> {
    const handle = new Handle(decode)
    this.parts.push({ columns, rows, handle })
    return handle
  }

  /** As one statement. Reads that are asked for in the same moment share a round trip. */
  async read(connection: SqlConnection): Promise<Results> {
    const cells = this.parts.map(({ columns, rows }, i) => {
      const values = connection.dialect.jsonArrays(columns.map((name) => sql.raw(name)))
      return sql`(SELECT ${values} FROM (${rows}) AS ${sql.raw(`rows_${i}`)}) AS ${sql.raw(nameOf(i))}`
    })
    const unpack = onlyRow((row) =>
      this.parts.map(({ columns, handle }, i): [unknown, Row[]] => [handle, unpacked(columns, row, nameOf(i))]),
    )
    return new Results(new Map(await readOne(connection, sql`SELECT ${sql.join(cells, sql`, `)}`, unpack)))
  }
}

const nameOf = (part: number): string => `part_${part}`

/** Columns of a row as one, beside others that may be large. */
export const packedColumns = (names: readonly string[], alias: string): SQL =>
  sql.raw(`json_array(${names.map((name) => `${alias}.${name}`).join(', ')}) AS packed`)

/** The same rows with their packed columns. */
export const unpackedColumns = (names: readonly string[], rows: readonly Row[]): Row[] =>
  rows.map((row) => (row.packed === undefined ? row : fill({ ...row }, names, json<unknown[]>(row, 'packed'))))

const unpacked = (columns: readonly string[], row: Row, name: string): Row[] =>
  json<unknown[][]>(row, name).map((values) => rowOf(columns, values))

/** A row of these columns. */
export const rowOf = (columns: readonly string[], values: readonly unknown[]): Row => fill({}, columns, values)

function fill(row: Row, columns: readonly string[], values: readonly unknown[]): Row {
  for (const [i, name] of columns.entries()) row[name] = values[i]
  return row
}
