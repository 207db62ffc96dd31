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

/** Entries of one part, each of which some twenty rows and index entries go with: some 40 ms of work. */
export const PART_ENTRIES = 250
/** Bytes of entries of one part: their vectors are a thousand a megabyte, and cost far more than the text. */
export const PART_BYTES = 4_000_000

const ofCall = (org: string, changeId: string): SQL => sql`org = ${org} AND change_id = ${changeId}`

/** What a call deletes, named once, so that its conditions are looked at once. */
export interface Leaving {
  /** Names everything that goes. */
  readonly name: SQL
  /** A query of the ids that have been named, as `value`. */
  readonly ids: SQL
  /** Removes the first part and leaves the others; the last statement returns how many they are, as `leaving`, or nothing. */
  readonly remove: readonly SQL[]
}

/**
 * Deletes what fulfils a condition: the first part at once, the others by name. Stands in a batch between the statements of
 * `writing`.
 *
 * @param where a condition on `entries`, which admits nothing that is leaving
 * @param most entries that go at most, those with the lowest ids
 */
export function leaveStatements(
  { org, changeId }: Pick<Caller, 'org' | 'changeId'>,
  where: SQL,
  { now, erases, most }: { readonly now: number; readonly erases: boolean; readonly most: number },
): Leaving {
  const part = sql`(row_number() OVER (ORDER BY picked.id) - 1) / ${sql.raw(String(PART_ENTRIES))}
    + (sum(picked.bytes) OVER (ORDER BY picked.id) - picked.bytes) / ${sql.raw(String(PART_BYTES))}`
  const first = sql`${ofCall(org, changeId)} AND part = 0`
  return {
    name: sql`
      INSERT INTO leaving (entry_id, org, part, change_id, key_id, agent, at, keeps, erases)
      SELECT sized.id, w.org, sized.part, w.change_id, w.key_id, w.agent, w.at, w.keeps, ${erases ? 1 : 0}
      FROM (
        SELECT picked.id, ${part} AS part
        FROM (SELECT id, bytes FROM entries WHERE ${where} ORDER BY id LIMIT ${most}) picked
      ) sized CROSS JOIN writing w
      WHERE w.org = ${org}`,
    ids: sql`SELECT entry_id AS value FROM leaving WHERE ${ofCall(org, changeId)}`,
    remove: [
      sql`DELETE FROM entries WHERE id IN (SELECT entry_id FROM leaving WHERE ${first})`,
      sql`DELETE FROM leaving WHERE ${first}`,
      sql`
        INSERT INTO outbox (org, topic, key, created_at, due_at)
        SELECT org, 'delete', change_id, ${now}, ${now + CLAIM_MS} FROM leaving WHERE ${ofCall(org, changeId)} LIMIT 1
        RETURNING (SELECT count(*) FROM leaving WHERE ${ofCall(org, changeId)}) AS leaving`,
    ],
  }
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
      ...(Number(row.erases) === 1 ? eraseStatements(connection.dialect, caller, null, since) : []),
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
