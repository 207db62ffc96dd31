// How do hundreds of small rows come from a database that makes an object of each, on both sides of a wire? As one JSON text.

import { type SQL, sql } from 'drizzle-orm'
import { type Decode, Handle, Results, readOne } from './batch'
import type { Row, SqlConnection } from './connection'
import { json, onlyRow } from './rows'

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
