import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import type { UnfinishedDeletes } from '../../../../ports/unfinished-deletes'
import type { Row, SqlConnection } from '../../core/connection'
import { ofCall, removeStatements } from './leaving'
import { writing } from './writing'

export function createUnfinishedDeletes(connection: SqlConnection, pace: Pace): UnfinishedDeletes {
  const next = (org: string, changeId: string): SQL =>
    sql`SELECT part, key_id, agent, at, keeps, erases FROM leaving WHERE ${ofCall(org, changeId)} ORDER BY part LIMIT 1`

  /** @returns a row of the part that follows, which is the same where something is left of it */
  async function remove(org: string, changeId: string, row: Row): Promise<Row | undefined> {
    const caller = { org, changeId, keyId: row.key_id as string, agent: row.agent as string | null }
    const at = row.at === null ? {} : { at: Number(row.at) }
    const { begin, end } = writing(caller, { keeps: Number(row.keeps) === 1, ...at })
    const part = sql`${ofCall(org, changeId)} AND part = ${Number(row.part)}`
    const statements = [
      begin,
      ...removeStatements(connection.dialect, caller, part, Number(row.erases) === 1 ? Number(row.at ?? 0) : null),
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
