// One database of a copy: a connection, and the statements that differ between databases.
import { type SQL, sql } from 'drizzle-orm'
import type { Row, SqlConnection } from '../../adapters/sql/core/connection'
import { textOf } from '../../adapters/sql/tables/texts/long-texts'

const TABLES = ['entries', 'links', 'entry_vectors', 'entry_versions'] as const
export type Table = (typeof TABLES)[number]

export interface Side {
  readonly backend: 'd1' | 'postgresql'
  readonly connection: SqlConnection
  /** Columns of a table that are not generated, one row each, as `name`. */
  readonly columnsOf: (table: Table) => SQL
  /** The highest id that was ever assigned to an entry, as `id`. */
  readonly highestId: SQL
  /** Makes the next id greater than this one. */
  readonly advanceIds: (id: number) => SQL
  /** `entry_id` and `tag` of the rows of tags that these entries have. */
  readonly tagRows: (ids: SQL) => SQL
  /** Those of the ids that are in the search index, as `id`. */
  readonly indexedIds: (ids: SQL) => SQL
  close(): Promise<void>
}

export const columnList = (columns: readonly string[]): SQL =>
  sql.join(
    columns.map((column) => sql.raw(column)),
    sql`, `,
  )

/** Columns of `entries`, whose text may be in another table. */
export const entryColumns = (columns: readonly string[]): SQL =>
  sql.join(
    columns.map((column) => (column === 'text' ? sql`${textOf('entries')} AS text` : sql.raw(column))),
    sql`, `,
  )

export async function readColumns(side: Side, table: Table): Promise<string[]> {
  const [rows] = await side.connection.batch([side.columnsOf(table)])
  return (rows ?? []).map(({ name }) => name as string).sort()
}

/** Returns a list of ids as the single parameter of `IN`. */
export const idList = ({ connection }: Side, ids: readonly number[]): SQL =>
  sql`(SELECT value FROM ${connection.dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} AS ids)`

export interface EntrySize {
  readonly id: number
  readonly bytes: number
}

const IDS_A_PAGE = 10_000

/** Yields every entry of the organization from an id on, or every retained version, with its size, in order of id. */
export async function listEntries(
  { connection }: Side,
  org: string,
  after: number,
  table: 'entries' | 'entry_versions' = 'entries',
): Promise<EntrySize[]> {
  const all: EntrySize[] = []
  for (let last = after; ; ) {
    const [rows] = await connection.batch([
      sql`SELECT id, bytes FROM ${sql.raw(table)} WHERE org = ${org} AND id > ${last} ORDER BY id LIMIT ${IDS_A_PAGE}`,
    ])
    for (const { id, bytes } of rows ?? []) all.push({ id: Number(id), bytes: Number(bytes) })
    if ((rows?.length ?? 0) < IDS_A_PAGE) return all
    last = all.at(-1)?.id ?? last
  }
}

const ENTRIES_A_PAGE = 100
const BYTES_A_PAGE = 2_000_000

/** Splits entries into pages that fit into one batch of any database. */
export function* pagesOf(entries: readonly EntrySize[]): Generator<number[]> {
  let page: number[] = []
  let bytes = 0
  for (const entry of entries) {
    if (page.length === ENTRIES_A_PAGE || (page.length > 0 && bytes + entry.bytes > BYTES_A_PAGE)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(entry.id)
    bytes += entry.bytes
  }
  if (page.length > 0) yield page
}

export const groupBy = (rows: readonly Row[], column: string): Map<number, Row[]> => {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const key = Number(row[column])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
