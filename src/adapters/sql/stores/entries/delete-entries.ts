import { type SQL, sql } from 'drizzle-orm'
import { DeleteRefused, type DeleteSelection, type Erased } from '../../../../domain/entry/selection'
import { MOST_DELETED } from '../../../../domain/identity/audit'
import type { Caller } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { Batch, runOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { countOf, firstRow, howMany, json, numbersOf, onlyRow, textsOf } from '../../core/rows'
import { changeable, listedToChange } from '../../core/visibility'
import { auditDeleteStatement } from '../../tables/changes/audit-log'
import { capturedGuards } from '../../tables/changes/captured-sources'
import {
  BEFORE_ALL,
  deletedBefore,
  entriesOf,
  erasable,
  erasableOf,
  erasedNow,
  type Meant,
} from '../../tables/changes/erase-selection'
import { pendingDeletion, soleDeletion } from '../../tables/changes/pending-deletion'
import { tell, toBatchOutput } from '../../tables/changes/telling'
import { createUnfinishedDeletes } from '../../tables/changes/unfinished-deletes'
import type { Write } from '../../tables/changes/writing'
import { entriesById } from '../../tables/entries/read-statements'
import { ENTRY_COLUMNS, isVersion, toEntry } from '../../tables/entries/rows'

/** Ids that a dry run shows. */
const SHOWN = 100

interface Selected {
  /** A condition on `entries`. */
  readonly where: SQL
  readonly guards: readonly SQL[]
}

const NOTHING: Erased = { count: 0, archived: 0, before: 0, left: 0 }

/** @throws DeleteRefused for a guard that did not hold; else what was thrown */
function refused(error: unknown): never {
  throw error instanceof PremiseFailed ? new DeleteRefused() : error
}

/** How many entries the row of the audit log tells of. */
const toDeleted = (row: Row): number => json<{ deleted: number }>(row, 'detail').deleted

/** What of the entry store deletes: one attempt each; what to do after a refusal is decided by the service. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createDelete(
  connection: SqlConnection,
  write: Write,
  clock: Clock,
): Pick<EntryStore, 'delete' | 'erase' | 'wouldDelete' | 'finishDeletes' | 'standing'> {
  const { dialect } = connection
  const { finish } = createUnfinishedDeletes(connection)

  function select(caller: Caller, selection: DeleteSelection, now: Millis, erases: boolean): Selected {
    const { ids, threadIds, source, createdBefore, expectedVersion, mustStand = false, captured = [] } = selection
    const until = (then: number) =>
      ids && sql`${entriesById(dialect, ids)} WHERE ${TRUE} AND ${changeable(dialect, caller, then)}`
    const named = until(now)
    const conditions = [
      // Whoever names an id means that entry, archived or not; other criteria reach what lists show.
      named
        ? // What has expired is erased as well, whether the schedule has removed its row or not.
          sql`id ${dialect.plan.oneOf(sql`SELECT e.id FROM ${erases ? until(BEFORE_ALL) : named}`)}`
        : threadIds
          ? sql`id ${dialect.plan.oneOf(
              erases
                ? erasableOf(dialect, caller, threadIds)
                : sql`SELECT e.id FROM ${entriesOf(dialect, caller.org, threadIds)} WHERE ${listedToChange(dialect, caller, now)}`,
            )}`
          : erases
            ? erasable(dialect, caller, 'entries')
            : listedToChange(dialect, caller, now, 'entries'),
      ...(threadIds && ids ? [sql`thread_id ${dialect.among(sql`${JSON.stringify(threadIds)}`)}`] : []),
      ...(source ? [sql`source = ${source}`] : []),
      ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
    ]
    const asExpected = expectedVersion === undefined ? sql`` : sql` AND ${isVersion(sql`e.version`, expectedVersion)}`
    const standing = sql`EXISTS (SELECT 1 FROM ${named}${asExpected})`
    const guards = [
      ...(named && (expectedVersion !== undefined || mustStand) ? [standing] : []),
      ...(erases ? [sql`NOT EXISTS (${unremoved(caller, selection)})`] : []),
    ].map((holds) => sql`INSERT INTO guards (holds) SELECT ${holds}`)
    return {
      where: sql.join(conditions, sql` AND `),
      guards: [...capturedGuards({ dialect, scope: caller, now }, captured), ...guards],
    }
  }

  /** The calls that have deleted some of these entries by name, and not removed them yet: what is kept of them is not yet known. */
  const unremoved = ({ org }: Caller, { ids, threadIds = [] }: Meant): SQL => sql`
    SELECT l.change_id FROM pending_deletes l
    WHERE l.org = ${org} AND l.erase_history = 0 AND ${
      ids
        ? sql`l.entry_id IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`
        : dialect.plan.exists(sql`
            SELECT 1 FROM entries e
            WHERE e.id = l.entry_id AND ${dialect.plan.filterOnly(sql`e.thread_id ${dialect.among(sql`${JSON.stringify(threadIds)}`)}`)}`)
    }`

  /**
   * Deletes in the call's own transaction, part of it by name, and removes that behind it.
   *
   * @param erases for good, also what was deleted before
   * @returns how many entries, and what an erasure took
   */
  async function remove(caller: Caller, selection: DeleteSelection, erases: boolean): Promise<Erased> {
    const now = clock.now()
    const actor = erases ? { ...caller, action: 'erase' } : caller
    const before = erases ? { erases: deletedBefore(dialect, caller, selection) } : {}
    const { where, guards } = select(caller, selection, now, erases)
    const pending =
      selection.ids?.length === 1 && !erases
        ? null
        : pendingDeletion(dialect, caller, where, { now, most: MOST_DELETED, ...before })
    const deletion = pending ?? soleDeletion(where)
    const batch = new Batch(...guards, ...(pending ? [pending.name] : []))
    const deleted = batch.add(auditDeleteStatement(actor, now, dialect, deletion.ids), onlyRow(toDeleted))
    const telling = erases && tell(caller.org, 'erased', erasedNow(dialect, caller, selection))
    const output = telling ? batch.add(telling, onlyRow(toBatchOutput)) : null
    batch.do(deletion.remove)
    const left = pending && batch.add(pending.queue, howMany)
    const result = await write(caller, batch, { forgets: erases, usesReserve: true }).catch(refused)
    // Nobody sees what is left; when the database does not answer now, the outbox removes it.
    if (left && result.of(left) > 0) await finish(caller.org, caller.changeId).catch(() => {})
    return (output && result.of(output).erased) ?? { ...NOTHING, count: result.of(deleted) }
  }

  return {
    delete: async (caller, selection) => (await remove(caller, selection, false)).count,

    erase: (caller, selection) => remove(caller, selection, true),

    async finishDeletes(caller, meant) {
      const calls = await runOne(connection, unremoved(caller, meant), textsOf('change_id'))
      for (const changeId of new Set(calls)) await finish(caller.org, changeId)
      return calls.length > 0
    },

    async standing(caller, id) {
      const statement = sql`SELECT ${ENTRY_COLUMNS}, '' AS text FROM ${entriesById(dialect, [id])}
        WHERE ${TRUE} AND ${changeable(dialect, caller, clock.now())}`
      return runOne(connection, statement, firstRow(toEntry))
    },

    async wouldDelete(caller, selection, erases = false) {
      const now = clock.now()
      const { where, guards } = select(caller, selection, now, erases)
      // What a call has deleted and not removed yet is told when it can be.
      const batch = new Batch(...(erases ? guards.slice(0, -1) : guards))
      const standing = batch.add(sql`SELECT count(*) AS n FROM entries WHERE ${where}`, countOf())
      const shown = batch.add(sql`SELECT id FROM entries WHERE ${where} ORDER BY id LIMIT ${SHOWN}`, numbersOf('id'))
      const gone = sql`SELECT id FROM (${deletedBefore(dialect, caller, selection)}) before ORDER BY id`
      const removed = erases ? batch.add(gone, numbersOf('id')) : null
      const result = await batch.run(connection).catch(refused)
      const before = removed === null ? [] : result.of(removed)
      const ids = [...result.of(shown), ...before].sort((a, b) => a - b)
      return { count: result.of(standing) + before.length, ids: ids.slice(0, SHOWN) }
    },
  }
}
