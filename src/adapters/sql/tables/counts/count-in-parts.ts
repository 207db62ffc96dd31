import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { json, num, numOrNull, onlyRow } from '../../core/rows'

export interface CountRequest {
  readonly org: string
  /** A condition on `entries`, of which only those that lists show are looked at, or only those of a thread that they do not. */
  readonly where: SQL
  readonly unlistedOf?: string
  /** Ids to bring, from the lowest. */
  readonly shown: number
  /** Whether no more is wanted than these ids: what comes behind them is not counted. */
  readonly only?: boolean
  /** Entries that one statement goes through. */
  readonly walked: number
}

const toFound = (row: Row) => ({
  count: num(row, 'count'),
  ids: json<number[]>(row, 'ids'),
  /** Behind which the next part begins; null for none. */
  last: numOrNull(row, 'last'),
})
type PartFound = ReturnType<typeof toFound>

/**
 * Counts entries in the order of their ids, so many at a time with rests between, on a database that serves nobody while a statement
 * goes on (platform contract §6).
 */
export async function countInParts(
  connection: SqlConnection,
  pace: Pace,
  { org, where, unlistedOf, shown, only: isEnough = false, walked }: CountRequest,
): Promise<{ count: number; ids: number[] }> {
  const ids: number[] = []
  let count = 0
  for (let after: number | null = 0; after !== null; ) {
    await pace.rest()
    const [index, place] =
      unlistedOf === undefined
        ? [sql`entries_by_id`, sql`entries.listed = 1`]
        : [sql`entries_unlisted`, sql`entries.thread_id = ${unlistedOf} AND entries.listed = 0`]
    const next: SQL = sql`SELECT entries.id FROM entries INDEXED BY ${index}
      WHERE entries.org = ${org} AND ${place} AND entries.id > ${after} ORDER BY entries.id LIMIT ${walked}`
    const part: PartFound = await readOne(
      connection,
      sql`WITH part AS MATERIALIZED (${next}), found AS MATERIALIZED (
          SELECT entries.id FROM part CROSS JOIN entries ON entries.id = part.id WHERE ${where}
        )
        SELECT (SELECT count(*) FROM found) AS count,
          (SELECT json_group_array(id) FROM (SELECT id FROM found ORDER BY id LIMIT ${shown - ids.length})) AS ids,
          (SELECT CASE WHEN count(*) = ${walked} THEN max(id) END FROM part) AS last`,
      onlyRow(toFound),
    )
    count += part.count
    ids.push(...part.ids)
    after = isEnough && ids.length === shown ? null : part.last
  }
  return { count, ids }
}
