import { type SQL, sql } from 'drizzle-orm'
import { DeleteRefused, type DeleteSelection, type Erased } from '../../../../domain/entry/selection'
import { MOST_DELETED } from '../../../../domain/identity/audit'
import type { Caller } from '../../../../domain/identity/scope'
import type { Pace } from '../../../../domain/pace'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { Batch, runOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { firstRow, howMany, json, numbersOf, numOrNull, onlyRow, textsOf } from '../../core/rows'
import { changeable, listedToChange } from '../../core/visibility'
import { auditDeleteStatement } from '../../tables/changes/audit-log'
import {
  BEFORE_ALL,
  deletedBefore,
  entriesOf,
  erasable,
  erasableOf,
  erasedNow,
  type Meant,
} from '../../tables/changes/erase-selection'
import { leaveStatements } from '../../tables/changes/leaving'
import { tell, toTold } from '../../tables/changes/telling'
import { createUnfinishedDeletes } from '../../tables/changes/unfinished-deletes'
import type { Write } from '../../tables/changes/writing'
import { countInParts } from '../../tables/counts/count-in-parts'
import { entriesById } from '../../tables/entries/read-statements'
import { ENTRY_COLUMNS, toEntry } from '../../tables/entries/rows'

/** Ids that a dry run shows. */
const SHOWN = 100

interface Selected {
  /** A condition on `entries`. */
  readonly where: SQL
  readonly guards: readonly SQL[]
}

interface Look {
  readonly now: number
  readonly erases: boolean
  /** Ids to bring. */
  readonly shown: number
  /** Whether no more is wanted than these. */
  readonly only: boolean
}

interface Manner {
  readonly now: number
  readonly erases: boolean
  /** Ids that were found in parts; null where the batch is to find them. */
  readonly chosen: readonly number[] | null
}

/** A condition on `entries`, and the guards that stand before and after what fulfils it is named. */
interface Choice {
  readonly where: SQL
  readonly before: readonly SQL[]
  readonly after: (named: SQL) => readonly SQL[]
}

const NOTHING: Erased = { count: 0, archived: 0, before: 0, left: 0 }

/** @throws DeleteRefused for a guard that did not hold; else what was thrown */
function refused(error: unknown): never {
  throw error instanceof PremiseFailed ? new DeleteRefused() : error
}

/** How many entries the row of the audit log tells of. */
const toDeleted = (row: Row): number => json<{ deleted: number }>(row, 'detail').deleted

/** What of the entry store deletes: one attempt each; what to do after a refusal is decided by the service. */
export function createDelete(
  connection: SqlConnection,
  write: Write,
  clock: Clock,
  pace: Pace,
): Pick<EntryStore, 'delete' | 'erase' | 'wouldDelete' | 'choose' | 'finishDeletes' | 'standing'> {
  const { dialect } = connection
  const { finish } = createUnfinishedDeletes(connection, pace)

  /** @param leads whether what is named leads to the entries; else others do, and each is looked at */
  function select(
    caller: Caller,
    selection: DeleteSelection,
    now: number,
    { erases = false, leads = true }: { readonly erases?: boolean; readonly leads?: boolean } = {},
  ): Selected {
    const { ids, threadIds, source, createdBefore, expectedVersion, mustStand = false } = selection
    const until = (then: number) =>
      ids && sql`${entriesById(dialect, ids)} WHERE ${TRUE} AND ${changeable(dialect, caller, then)}`
    const named = until(now)
    const conditions = [
      // Whoever names an id means that entry, archived or not; other criteria reach what lists show.
      named
        ? // What has expired is erased as well, whether the schedule has removed its row or not.
          sql`id ${dialect.oneOf(sql`SELECT e.id FROM ${erases ? until(BEFORE_ALL) : named}`)}`
        : threadIds && leads
          ? sql`id ${dialect.oneOf(
              erases
                ? erasableOf(dialect, caller, threadIds)
                : sql`SELECT e.id FROM ${entriesOf(dialect, caller.org, threadIds)} WHERE ${listedToChange(dialect, caller, now)}`,
            )}`
          : erases
            ? erasable(dialect, caller, 'entries')
            : listedToChange(dialect, caller, now, 'entries'),
      ...(threadIds && (ids || !leads) ? [sql`thread_id ${dialect.among(sql`${JSON.stringify(threadIds)}`)}`] : []),
      ...(source ? [sql`source = ${source}`] : []),
      ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
    ]
    const standing = sql`EXISTS (SELECT 1 FROM ${named}${expectedVersion === undefined ? sql`` : sql` AND e.version = ${expectedVersion}`})`
    const guards = [
      ...(named && (expectedVersion !== undefined || mustStand) ? [standing] : []),
      ...(erases ? [sql`NOT EXISTS (${unremoved(caller, selection)})`] : []),
    ].map((holds) => sql`INSERT INTO guards (holds) SELECT ${holds}`)
    return { where: sql.join(conditions, sql` AND `), guards }
  }

  /** The calls that have deleted some of these entries by name, and not removed them yet: what is kept of them is not yet known. */
  const unremoved = ({ org }: Caller, { ids, threadIds = [] }: Meant): SQL => sql`
    SELECT l.change_id FROM leaving l
    WHERE l.org = ${org} AND l.erases = 0 AND ${
      ids
        ? sql`l.entry_id IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`
        : dialect.exists(sql`
            SELECT 1 FROM entries e
            WHERE e.id = l.entry_id AND ${dialect.aside(sql`e.thread_id ${dialect.among(sql`${JSON.stringify(threadIds)}`)}`)}`)
    }`

  /** Whether what leads to the entries has no more than one statement may go through; null where it may go through any number. */
  function few({ org }: Caller, { ids, threadIds }: DeleteSelection, erases: boolean): SQL | null {
    const { walked } = dialect
    if (walked === null || ids) return null
    const of = (listed: 0 | 1) => sql`(SELECT count(*) FROM (
      SELECT e.id FROM ${entriesOf(dialect, org, threadIds ?? [])} WHERE e.listed = ${sql.raw(String(listed))} LIMIT ${walked + 1}) led)`
    if (threadIds) return sql`${of(1)}${erases ? sql` + ${of(0)}` : sql``} <= ${walked}`
    return sql`coalesce((SELECT items FROM org_usage WHERE org = ${org} AND part = 'entries'), 0) <= ${walked}`
  }

  /** What is to be deleted, looked at in parts of a bounded number of entries: how many, and the lowest ids. */
  async function inParts(caller: Caller, selection: DeleteSelection, { now, erases, shown, only }: Look) {
    const { where } = select(caller, selection, now, { erases, leads: false })
    const request = { org: caller.org, where, shown, only, walked: dialect.walked ?? MOST_DELETED }
    const found = [await countInParts(connection, pace, request)]
    if (erases)
      for (const unlistedOf of selection.threadIds ?? [])
        found.push(await countInParts(connection, pace, { ...request, unlistedOf }))
    const ids = found.flatMap((part) => part.ids).sort((a, b) => a - b)
    return { count: found.reduce((sum, { count }) => sum + count, 0), ids: ids.slice(0, shown) }
  }

  /**
   * What a call deletes, and the guards of it. Whatever was chosen before is looked at again; so many as one call takes must all still be
   * there, since the answer tells that nothing is left by telling of fewer.
   */
  function choice(caller: Caller, selection: DeleteSelection, manner: Manner): Choice {
    const { now, erases, chosen } = manner
    const { where, guards } = select(caller, selection, now, { erases, leads: chosen === null })
    const holds = (condition: SQL) => sql`INSERT INTO guards (holds) SELECT ${condition}`
    const isFew = few(caller, selection, erases)
    if (chosen === null) return { where, before: isFew ? [...guards, holds(isFew)] : guards, after: () => [] }
    const ids = sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(chosen)}`)}`
    const all = (named: SQL) => holds(sql`(SELECT count(*) FROM (${named}) named) = ${MOST_DELETED}`)
    return {
      where: sql`id ${dialect.oneOf(ids)} AND ${where}`,
      before: guards,
      after: (named) => (chosen.length === MOST_DELETED ? [all(named)] : []),
    }
  }

  /**
   * Deletes in the call's own transaction, part of it by name, and removes that behind it.
   *
   * @param erases for good, also what was deleted before
   * @returns how many entries, and what an erasure took
   */
  async function remove(
    caller: Caller,
    selection: DeleteSelection,
    erases: boolean,
    chosen: readonly number[] | null,
  ): Promise<Erased> {
    const now = clock.now()
    const actor = erases ? { ...caller, action: 'erase' } : caller
    const before = erases ? { erases: deletedBefore(dialect, caller, selection) } : {}
    const { where, ...guards } = choice(caller, selection, { now, erases, chosen })
    const leaving = leaveStatements(dialect, caller, where, { now, most: MOST_DELETED, ...before })
    const batch = new Batch(...guards.before, leaving.name, ...guards.after(leaving.ids))
    const deleted = batch.add(auditDeleteStatement(actor, now, dialect, leaving.ids), onlyRow(toDeleted))
    const telling = erases && tell(caller.org, 'erased', erasedNow(dialect, caller, selection))
    const told = telling ? batch.add(telling, onlyRow(toTold)) : null
    const left = batch.do(leaving.remove).add(leaving.queue, howMany)
    const result = await write(caller, batch, { forgets: erases }).catch(refused)
    // Nobody sees what is left; when the database does not answer now, the outbox removes it.
    if (result.of(left) > 0) await finish(caller.org, caller.changeId).catch(() => {})
    return (told && result.of(told).erased) ?? { ...NOTHING, count: result.of(deleted) }
  }

  return {
    delete: async (caller, selection, chosen = null) => (await remove(caller, selection, false, chosen)).count,

    erase: (caller, selection, chosen = null) => remove(caller, selection, true, chosen),

    async choose(caller, selection, erases) {
      const look = { now: clock.now(), erases, shown: MOST_DELETED, only: true }
      return (await inParts(caller, selection, look)).ids
    },

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
      const { where, guards } = select(caller, selection, now, { erases })
      const { walked } = dialect
      const within = few(caller, selection, erases) ?? TRUE
      const gone = erases ? sql`SELECT id FROM (${deletedBefore(dialect, caller, selection)}) before` : null
      const all = sql`SELECT id FROM entries WHERE ${where}`
      // What a call has deleted and not removed yet is told when it can be.
      const batch = new Batch(...(erases ? guards.slice(0, -1) : guards))
      const counted = batch.add(
        sql`SELECT CASE WHEN ${within} THEN (SELECT count(*) FROM (${all}) found) END AS n`,
        onlyRow((row) => numOrNull(row, 'n')),
      )
      const ids = batch.add(
        sql`SELECT id FROM entries WHERE ${where} ORDER BY id LIMIT CASE WHEN ${within} THEN ${SHOWN} ELSE 0 END`,
        numbersOf('id'),
      )
      const removed = gone && batch.add(sql`${gone} ORDER BY id`, numbersOf('id'))
      const result = await batch.run(connection).catch(refused)
      const n = result.of(counted)
      const standing =
        n === null && walked !== null
          ? await inParts(caller, selection, { now, erases, shown: SHOWN, only: false })
          : { count: n ?? 0, ids: result.of(ids) }
      const before = removed === null ? [] : result.of(removed)
      const every = [...standing.ids, ...before].sort((a, b) => a - b)
      return { count: standing.count + before.length, ids: every.slice(0, SHOWN) }
    },
  }
}
