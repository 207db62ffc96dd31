import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../domain/pace'
import type { Caller } from '../../domain/scope'
import type { UnfinishedDeletes } from '../../ports/unfinished-deletes'
import type { Row, SqlConnection } from './connection'
import { eraseStatements } from './erase-statements'
import { CLAIM_MS } from './outbox'
import { writing } from './writing'

/**
 * How does a call delete thousands of entries, or texts with thousands of vectors, without holding everybody up? Its own transaction
 * removes a first part and notes the others, which nobody sees from then on; they are removed part by part behind it, before the
 * call answers, or by the outbox when the caller died.
 */

/** Entries of one part, each of which some twenty rows and index entries go with. */
const PART_ENTRIES = 500
/** Bytes of entries of one part: their vectors are a thousand a megabyte, and cost far more than the text. */
export const PART_BYTES = 4_000_000

const ofCall = (org: string, changeId: string): SQL => sql`org = ${org} AND change_id = ${changeId}`

/**
 * The first entries that a condition admits, as a condition: so many are deleted by one call at most.
 *
 * @param where a condition on `entries`
 */
export const firstOf = (where: SQL, most: number): SQL => sql`${where} AND id <= coalesce(
  (SELECT id FROM entries WHERE ${where} ORDER BY id LIMIT 1 OFFSET ${most - 1}), ${Number.MAX_SAFE_INTEGER}
)`

/**
 * Deletes what fulfils a condition: the first part at once, the others by name. Stands in a batch between the statements of
 * `writing`.
 *
 * @param where a condition on `entries`, which no longer admits what is leaving
 */
export const leaveStatements = (caller: Caller, where: SQL, now: number, erases: boolean): SQL[] => {
  const { org, changeId } = caller
  const part = sql`(row_number() OVER (ORDER BY picked.id) - 1) / ${sql.raw(String(PART_ENTRIES))}
    + (sum(picked.bytes) OVER (ORDER BY picked.id) - picked.bytes) / ${sql.raw(String(PART_BYTES))}`
  return [
    sql`
      INSERT INTO leaving (entry_id, org, part, change_id, key_id, agent, at, keeps, erases)
      SELECT sized.id, w.org, sized.part, w.change_id, w.key_id, w.agent, w.at, w.keeps, ${erases ? 1 : 0}
      FROM (SELECT picked.id, ${part} AS part FROM (SELECT id, bytes FROM entries WHERE ${where}) picked) sized
        CROSS JOIN writing w
      WHERE w.org = ${org} AND sized.part > 0`,
    // Parts are in the order of ids.
    sql`
      DELETE FROM entries WHERE ${where} AND id < coalesce(
        (SELECT min(entry_id) FROM leaving WHERE ${ofCall(org, changeId)}), ${Number.MAX_SAFE_INTEGER}
      )`,
    sql`
      INSERT INTO outbox (org, topic, key, created_at, due_at)
      SELECT org, 'delete', change_id, ${now}, ${now + CLAIM_MS} FROM leaving WHERE ${ofCall(org, changeId)} LIMIT 1`,
    sql`SELECT count(*) AS leaving FROM leaving WHERE ${ofCall(org, changeId)}`,
  ]
}

export function createUnfinishedDeletes(connection: SqlConnection, pace: Pace): UnfinishedDeletes {
  const next = (org: string, changeId: string): SQL =>
    sql`SELECT part, key_id, agent, at, keeps, erases FROM leaving WHERE ${ofCall(org, changeId)} ORDER BY part LIMIT 1`

  /** @returns a row of the part that follows */
  async function remove(org: string, changeId: string, row: Row): Promise<Row | undefined> {
    const caller = { org, changeId, keyId: row.key_id as string, agent: row.agent as string | null }
    const at = row.at === null ? {} : { at: Number(row.at) }
    const { begin, since, end } = writing(caller, { keeps: Number(row.keeps) === 1, ...at })
    const part = sql`${ofCall(org, changeId)} AND part = ${Number(row.part)}`
    const statements = [
      begin,
      sql`DELETE FROM entries WHERE id IN (SELECT entry_id FROM leaving WHERE ${part})`,
      ...(Number(row.erases) === 1 ? eraseStatements(connection.dialect, org, null, since) : []),
      sql`DELETE FROM leaving WHERE ${part}`,
      sql`
        DELETE FROM outbox WHERE org = ${org} AND topic = 'delete' AND key = ${changeId}
          AND NOT EXISTS (SELECT 1 FROM leaving WHERE ${ofCall(org, changeId)})`,
      end,
      next(org, changeId),
    ]
    const rows = await connection.batch(statements, { org })
    return rows.at(-1)?.[0]
  }

  return {
    async finish(org, changeId) {
      const [rows] = await connection.batch([next(org, changeId)])
      let row = rows?.[0]
      while (row !== undefined) {
        await pace.rest()
        row = await remove(org, changeId, row)
      }
    },
  }
}
