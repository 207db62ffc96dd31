// How do hundreds of small rows come from a database that makes an object of each, on both sides of a wire? As one JSON text.
import { type SQL, sql } from 'drizzle-orm'
import type { Row, SqlConnection } from './connection'

/** Rows that are small, since a text of D1 holds 2 MB: numbers, and texts of a known length. */
export interface Part {
  readonly columns: readonly string[]
  readonly rows: SQL
}

/**
 * As one statement where that costs less, else one each. Reads that are asked for in the same moment share a round trip.
 *
 * @returns the rows of each part
 */
export async function readTogether(connection: SqlConnection, parts: readonly Part[]): Promise<Row[][]> {
  if (!connection.dialect.packsRows) return connection.read(parts.map(({ rows }) => rows))
  return readPacked(connection, parts)
}

/**
 * As one statement, over a database that packs its rows.
 *
 * @param framed puts what the parts have in common before it
 */
export async function readPacked(
  connection: SqlConnection,
  parts: readonly Part[],
  framed: (select: SQL) => SQL = (select) => select,
): Promise<Row[][]> {
  const cells = parts.map(({ columns, rows }, i) => {
    const names = sql.raw(columns.join(', '))
    return sql`(SELECT json_group_array(json_array(${names})) FROM (${rows})) AS ${sql.raw(nameOf(i))}`
  })
  const [all] = await connection.read([framed(sql`SELECT ${sql.join(cells, sql`, `)}`)])
  return parts.map(({ columns }, i) => unpacked(columns, all?.[0]?.[nameOf(i)]))
}

const nameOf = (part: number): string => `part_${part}`

/** Columns of a row as one, beside others that may be large. */
export const packedColumns = (names: readonly string[], alias: string): SQL =>
  sql.raw(`json_array(${names.map((name) => `${alias}.${name}`).join(', ')}) AS packed`)

/** The same rows with their packed columns. */
export const unpackedColumns = (names: readonly string[], rows: readonly Row[]): Row[] =>
  rows.map((row) =>
    row.packed === undefined ? row : fill({ ...row }, names, JSON.parse(row.packed as string) as unknown[]),
  )

const unpacked = (columns: readonly string[], cell: unknown): Row[] =>
  (JSON.parse(cell as string) as unknown[][]).map((values) => fill({}, columns, values))

function fill(row: Row, columns: readonly string[], values: readonly unknown[]): Row {
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i]
  return row
}
