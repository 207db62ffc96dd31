// Reads columns of rows by type, and packs rows into JSON.

import { type SQL, sql } from 'drizzle-orm'
import { utf8Length } from '../../../domain/text'
import { type Decode, Handle, Results, readOne } from './batch'
import type { Row, SqlConnection } from './connection'
import type { SqlDialect } from './dialect'

const wrong = (name: string, wanted: string): Error => new Error(`column ${name} holds no ${wanted}`)

/** Returns a text. @throws Error for any other type */
export function str(row: Row, name: string): string {
  const value = row[name]
  if (typeof value !== 'string') throw wrong(name, 'text')
  return value
}

/** Returns a text or null. @throws Error for any other type */
export function strOrNull(row: Row, name: string): string | null {
  const value = row[name] ?? null
  if (value !== null && typeof value !== 'string') throw wrong(name, 'text')
  return value
}

/** Returns a function that reads one of these texts. @throws Error for any other value */
export const oneOf =
  <T extends string>(values: readonly T[]) =>
  (row: Row, name: string): T => {
    const value = values.find((one) => one === row[name])
    if (value === undefined) throw wrong(name, values.join(' or '))
    return value
  }

/** Returns a number; NaN when it is missing. */
export const num = (row: Row, name: string): number => Number(row[name])

export const numOrNull = (row: Row, name: string): number | null => {
  const value = row[name] ?? null
  return value === null ? null : Number(value)
}

/** Returns a boolean, which one database stores as 0 and 1. */
export const flag = (row: Row, name: string): boolean => Number(row[name]) === 1

/** Parses JSON that this program wrote. @throws Error when it is missing */
export const json = <T>(row: Row, name: string): T => JSON.parse(str(row, name))

/** Parses JSON; null when it is missing. */
export function jsonOrNull<T>(row: Row, name: string): T | null {
  const text = strOrNull(row, name)
  return text === null ? null : JSON.parse(text)
}

/** Decodes each row. */
export const each =
  <T>(decode: (row: Row) => T): Decode<T[]> =>
  (rows) =>
    rows.map(decode)

/** Decodes the first row; null without one. */
export const firstRow =
  <T>(decode: (row: Row) => T): Decode<T | null> =>
  ([row]) =>
    row === undefined ? null : decode(row)

/** Decodes the only row. @throws Error without one */
export const onlyRow =
  <T>(decode: (row: Row) => T): Decode<T> =>
  ([row]) => {
    if (row === undefined) throw new Error('a statement returned no row')
    return decode(row)
  }

/** Returns a number of the first row; 0 when it is missing. */
export const countOf =
  (name = 'n'): Decode<number> =>
  ([row]) =>
    Number(row?.[name] ?? 0)

/** Returns the numbers of a column. */
export const numbersOf = (name: string): Decode<number[]> => each((row) => num(row, name))

/** Returns the texts of a column. */
export const textsOf = (name: string): Decode<string[]> => each((row) => str(row, name))

/** Returns the number of rows. */
export const howMany: Decode<number> = ({ length }) => length

/** Returns the rows unchanged, for a decoder that has to yield between them. */
export const asRows: Decode<readonly Row[]> = (rows) => rows

/** Maximum bytes of a JSON value: a value in D1 has at most 2 MB. */
const MAX_JSON = 1_500_000

/**
 * Splits rows into groups whose JSON fits into one value.
 *
 * @param sizeOf returns the bytes of a row in the JSON
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

/** Returns rows as JSON arrays, each of which fits into one value; a larger row gets an array of its own. */
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

/**
 * Combines queries of many small rows (numbers, and texts of bounded length) into one statement; a text of D1 holds 2 MB.
 */
export class Parts {
  private readonly parts: Part[] = []

  add<T>(columns: readonly string[], rows: SQL, decode: Decode<T>): Handle<T> {
    const handle = new Handle(decode)
    this.parts.push({ columns, rows, handle })
    return handle
  }

  /** Runs all queries as one statement. Concurrent reads share a round trip. */
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

/** Returns an expression for several columns as one JSON value, next to columns that may be large. */
export const packedColumns = (names: readonly string[], alias: string): SQL =>
  sql.raw(`json_array(${names.map((name) => `${alias}.${name}`).join(', ')}) AS packed`)

/** Returns the rows with their packed columns. */
export const unpackedColumns = (names: readonly string[], rows: readonly Row[]): Row[] =>
  rows.map((row) => (row.packed === undefined ? row : fill({ ...row }, names, json<unknown[]>(row, 'packed'))))

/** Returns the rows of a query as one JSON value, where the driver converts value by value; otherwise the query. Read by `rowsOfValue`. */
export const inOneValue = ({ packsResults }: Pick<SqlDialect, 'packsResults'>, query: SQL): SQL =>
  packsResults ? sql`SELECT coalesce(json_agg(result), '[]')::text AS results FROM (${query}) AS result` : query

export const rowsOfValue = (rows: readonly Row[]): readonly Row[] =>
  typeof rows[0]?.results === 'string' ? JSON.parse(rows[0].results) : rows

const unpacked = (columns: readonly string[], row: Row, name: string): Row[] =>
  json<unknown[][]>(row, name).map((values) => rowOf(columns, values))

/** Returns a row with these columns. */
export const rowOf = (columns: readonly string[], values: readonly unknown[]): Row => fill({}, columns, values)

function fill(row: Row, columns: readonly string[], values: readonly unknown[]): Row {
  for (const [i, name] of columns.entries()) row[name] = values[i]
  return row
}
