import { type SQL, sql } from 'drizzle-orm'
import { checkMayWrite } from '../../domain/scope'
import type { Clock } from '../../ports/clock'
import type { EntryStore } from '../../ports/entry-store'
import { auditDeleteStatement } from './audit-log'
import { TRUE } from './compile-filter'
import { PremiseFailed, type SqlConnection } from './connection'
import type { SqlDialect } from './dialect'
import { entriesById } from './read-statements'
import { listed, readable, writable } from './visibility'
import type { Write } from './writing'

/** Threads lead to their entries too, whatever else is known of these. */
const entriesOf = (dialect: SqlDialect, org: string, threads: readonly string[]): SQL =>
  sql`${dialect.jsonRows(sql`${JSON.stringify(threads)}`)} wanted
    ${dialect.follow('entries', 'e', sql`e.org = ${org} AND e.thread_id = wanted.value`)}`

/** The entry store's `delete`. */
export function createDelete({ dialect }: SqlConnection, write: Write, clock: Clock): EntryStore['delete'] {
  return async (caller, selection) => {
    const { ids, threadIds, source, createdBefore } = selection
    const now = clock.now()
    const own = writable(dialect, caller, 'entries')
    const named = ids && sql`${entriesById(dialect, ids)} WHERE ${TRUE} AND ${readable(dialect, caller, now)}`
    const conditions = [
      // Whoever names an id means that entry, archived or not; other criteria reach what lists show.
      named
        ? sql`id IN (SELECT e.id FROM ${named})`
        : threadIds
          ? sql`id IN (SELECT e.id FROM ${entriesOf(dialect, caller.org, threadIds)} WHERE ${listed(dialect, caller, now)})`
          : listed(dialect, caller, now, 'entries'),
      ...(own ? [own] : []),
      ...(ids && threadIds ? [sql`thread_id ${dialect.among(sql`${JSON.stringify(threadIds)}`)}`] : []),
      ...(source ? [sql`source = ${source}`] : []),
      ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
    ]
    const where = sql.join(conditions, sql` AND `)
    // Whoever names the id of an entry that is not theirs to write is told; other criteria pass it by.
    const guards =
      named && caller.projects !== null
        ? [sql`INSERT INTO guards (holds) SELECT NOT EXISTS (SELECT 1 FROM ${named} AND e.project IS NULL)`]
        : []
    const remove = sql`DELETE FROM entries WHERE ${where}`
    const audit = auditDeleteStatement(caller, now, dialect, where)
    const rows = await write(caller, [...guards, audit, remove]).catch((error: unknown) => {
      if (error instanceof PremiseFailed) checkMayWrite(caller, null)
      throw error
    })
    const audited = rows[guards.length]
    return (JSON.parse(audited?.[0]?.detail as string) as { deleted: number }).deleted
  }
}
