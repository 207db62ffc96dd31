import { type SQL, sql } from 'drizzle-orm'
import { scheduler } from '../../../../domain/scheduler'
import type { UnfinishedDeletes } from '../../../../ports/unfinished-deletes'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { firstRow, flag, num, numOrNull, str, strOrNull } from '../../core/rows'
import { ofCall, removeStatements } from './pending-deletion'
import { runWriting } from './writing'

/** A part of what a call deletes that has not been removed yet. */
const toLeft = (row: Row) => ({
  part: num(row, 'part'),
  keyId: str(row, 'key_id'),
  agent: strOrNull(row, 'agent'),
  at: numOrNull(row, 'at'),
  keeps: flag(row, 'retain_versions'),
  erases: flag(row, 'erase_history'),
})
type Left = ReturnType<typeof toLeft>

export function createUnfinishedDeletes(connection: SqlConnection): UnfinishedDeletes {
  const next = (org: string, changeId: string): SQL =>
    sql`SELECT part, key_id, agent, at, retain_versions, erase_history FROM pending_deletes
      WHERE ${ofCall(org, changeId)} ORDER BY part LIMIT 1`

  /** @returns the part that follows, which is the same where something is left of it */
  async function remove(org: string, changeId: string, left: Left): Promise<Left | null> {
    const caller = { org, changeId, keyId: left.keyId, agent: left.agent }
    const part = sql`${ofCall(org, changeId)} AND part = ${left.part}`
    const batch = new Batch(
      ...removeStatements(connection.dialect, caller, part, left.erases ? (left.at ?? 0) : null),
      sql`
        DELETE FROM outbox WHERE org = ${org} AND topic = 'delete' AND key = ${changeId}
          AND NOT EXISTS (SELECT 1 FROM pending_deletes WHERE ${ofCall(org, changeId)})`,
    )
    const following = batch.add(next(org, changeId), firstRow(toLeft))
    const manner = { keeps: left.keeps, ...(left.at === null ? {} : { at: left.at }) }
    return (await runWriting(connection, caller, manner, () => batch, { org, usesReserve: true })).of(following)
  }

  return {
    async finish(org, changeId) {
      let left = await runOne(connection, next(org, changeId), firstRow(toLeft))
      while (left !== null) {
        await scheduler.yield()
        left = await remove(org, changeId, left)
      }
    },
  }
}
