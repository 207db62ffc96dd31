import { type SQL, sql } from 'drizzle-orm'
import { noSuchEntry, unavailable } from '../../../domain/errors'
import { checkVersion } from '../../../domain/history/version'
import { MOST_DELETED } from '../../../domain/identity/audit'
import type { Caller } from '../../../domain/identity/scope'
import type { Pace } from '../../../domain/pace'
import type { Clock } from '../../../ports/clock'
import type { DeleteSelection, EntryStore } from '../../../ports/entry-store'
import { TRUE } from '../compile-filter'
import { PremiseFailed, type SqlConnection } from '../connection'
import type { SqlDialect } from '../dialect'
import { deletedBefore } from '../history/erase-statements'
import { tell } from '../history/telling'
import { auditDeleteStatement } from '../identity/audit-log'
import { changeable, listedToChange } from '../visibility'
import { countInParts } from './count-in-parts'
import { createUnfinishedDeletes, leaveStatements } from './leaving'
import { entriesById } from './read-statements'
import { ENTRY_COLUMNS, toEntry } from './rows'
import type { Write } from './writing'

/** Ids that a dry run shows. */
const SHOWN = 100
/** Fresh reads after a lost race. */
const TRIES = 5
/** Before every end that an entry can have. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER

/** Threads lead to their entries too, whatever else is known of these. */
const entriesOf = (dialect: SqlDialect, org: string, threads: readonly string[]): SQL =>
  sql`${dialect.jsonRows(sql`${JSON.stringify(threads)}`)} wanted
    ${dialect.follow('entries', 'e', sql`e.org = ${org} AND e.thread_id = wanted.value`)}`

interface Selected {
  /** A condition on `entries`. */
  readonly where: SQL
  readonly guards: readonly SQL[]
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

/** The entry store's `delete`, `erase` and `wouldDelete`. */
export function createDelete(
  connection: SqlConnection,
  write: Write,
  clock: Clock,
  pace: Pace,
): Pick<EntryStore, 'delete' | 'erase' | 'wouldDelete'> {
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
          ? sql`id ${dialect.oneOf(sql`
              SELECT e.id FROM ${entriesOf(dialect, caller.org, threadIds)} WHERE ${listedToChange(dialect, caller, now)}`)}`
          : listedToChange(dialect, caller, now, 'entries'),
      ...(threadIds && (ids || !leads) ? [sql`thread_id ${dialect.among(sql`${JSON.stringify(threadIds)}`)}`] : []),
      ...(source ? [sql`source = ${source}`] : []),
      ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
    ]
    const standing = sql`EXISTS (SELECT 1 FROM ${named}${expectedVersion === undefined ? sql`` : sql` AND e.version = ${expectedVersion}`})`
    const guards = [
      ...(named && (expectedVersion !== undefined || mustStand) ? [standing] : []),
      ...(ids && erases ? [sql`NOT EXISTS (${unremoved(caller, ids)})`] : []),
    ].map((holds) => sql`INSERT INTO guards (holds) SELECT ${holds}`)
    return { where: sql.join(conditions, sql` AND `), guards }
  }

  /** The calls that have deleted some of these entries by name, and not removed them yet: what is kept of them is not yet known. */
  const unremoved = ({ org }: Caller, ids: readonly number[]): SQL => sql`
    SELECT l.change_id FROM leaving l
    WHERE l.org = ${org} AND l.erases = 0 AND l.entry_id IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`

  /** Removes what an erasure waits for, if there is anything. */
  async function removeFirst(caller: Caller, ids: readonly number[]): Promise<boolean> {
    const [rows = []] = await connection.batch([unremoved(caller, ids)])
    for (const changeId of new Set(rows.map((row) => row.change_id as string))) await finish(caller.org, changeId)
    return rows.length > 0
  }

  /** Why a guard refused; nothing when it would not refuse now. */
  async function refuse(caller: Caller, { ids, expectedVersion, mustStand }: DeleteSelection): Promise<void> {
    const [id] = ids ?? []
    if ((expectedVersion === undefined && !mustStand) || id === undefined) return
    const [rows] = await connection.batch([
      sql`SELECT ${ENTRY_COLUMNS}, '' AS text FROM ${entriesById(dialect, [id])}
        WHERE ${TRUE} AND ${changeable(dialect, caller, clock.now())}`,
    ])
    if (rows?.[0] === undefined) throw noSuchEntry(id)
    checkVersion(toEntry(rows[0]), expectedVersion)
  }

  /** Whether what leads to the entries has no more than one statement may go through; null where it may go through any number. */
  function few({ org }: Caller, { ids, threadIds }: DeleteSelection): SQL | null {
    const { walked } = dialect
    if (walked === null || ids) return null
    const led = threadIds
      ? sql`SELECT count(*) FROM (
          SELECT e.id FROM ${entriesOf(dialect, org, threadIds)} WHERE e.listed = 1 LIMIT ${walked + 1}) led`
      : sql`SELECT items FROM org_usage WHERE org = ${org} AND part = 'entries'`
    return sql`coalesce((${led}), 0) <= ${walked}`
  }

  /** The lowest ids of what is to be deleted, chosen in parts of a bounded number of entries. */
  async function choose(caller: Caller, selection: DeleteSelection, now: number): Promise<readonly number[]> {
    const { walked } = dialect
    const { where } = select(caller, selection, now, { leads: false })
    const request = { org: caller.org, where, shown: MOST_DELETED, only: true, walked: walked ?? MOST_DELETED }
    return (await countInParts(connection, pace, request)).ids
  }

  /**
   * What a call deletes, and the guards of it. Whatever was chosen before is looked at again; so many as one call takes must all still be
   * there, since the answer tells that nothing is left by telling of fewer.
   */
  function choice(caller: Caller, selection: DeleteSelection, manner: Manner): Choice {
    const { now, erases, chosen } = manner
    const { where, guards } = select(caller, selection, now, { erases, leads: chosen === null })
    const holds = (condition: SQL) => sql`INSERT INTO guards (holds) SELECT ${condition}`
    const isFew = few(caller, selection)
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
   * @returns how many entries
   */
  async function remove(caller: Caller, selection: DeleteSelection, erases: boolean): Promise<number> {
    const now = clock.now()
    const actor = erases ? { ...caller, action: 'erase' } : caller
    const before = erases ? { erases: deletedBefore(dialect, caller, selection.ids ?? []) } : {}
    let chosen: readonly number[] | null = null
    for (let attempt = 1; ; attempt++) {
      const { where, ...guards } = choice(caller, selection, { now, erases, chosen })
      const leaving = leaveStatements(dialect, caller, where, { now, most: MOST_DELETED, ...before })
      const audit = auditDeleteStatement(actor, now, dialect, leaving.ids)
      const count = sql`(SELECT CAST(count(*) AS text) FROM (${leaving.ids}) erased)`
      const told = erases ? [tell(caller.org, count)] : []
      const named = [...guards.before, leaving.name, ...guards.after(leaving.ids)]
      const statements = [...named, audit, ...told, ...leaving.remove]
      try {
        const rows = await write(caller, statements, { forgets: erases })
        const left = rows[statements.length - 1]?.length ?? 0
        // Nobody sees what is left; when the database does not answer now, the outbox removes it.
        if (left > 0) await finish(caller.org, caller.changeId).catch(() => {})
        const [audited] = rows[statements.indexOf(audit)] ?? []
        return (JSON.parse(audited?.detail as string) as { deleted: number }).deleted
      } catch (error) {
        if (!(error instanceof PremiseFailed)) throw error
        // Without ids nothing is refused but the choice.
        if (!selection.ids) chosen = await choose(caller, selection, now)
        else if (!(erases && (await removeFirst(caller, selection.ids ?? [])))) await refuse(caller, selection)
        if (attempt === TRIES) throw unavailable('The entry changes at this moment; nothing was deleted, try again')
      }
    }
  }

  return {
    async delete(caller, selection) {
      return caller.done ? caller.done.changes : remove(caller, selection, false)
    },

    async erase(caller, selection) {
      return caller.done ? Number(caller.done.told) : remove(caller, selection, true)
    },

    async wouldDelete(caller, selection) {
      const now = clock.now()
      const { where, guards } = select(caller, selection, now)
      const { walked } = dialect
      const within = few(caller, selection) ?? TRUE
      try {
        const rows = await connection.batch([
          ...guards,
          sql`SELECT CASE WHEN ${within} THEN (SELECT count(*) FROM entries WHERE ${where}) END AS n`,
          sql`SELECT id FROM entries WHERE ${where} ORDER BY id LIMIT CASE WHEN ${within} THEN ${SHOWN} ELSE 0 END`,
        ])
        const [count, ids] = rows.slice(guards.length)
        const n = count?.[0]?.n
        if (n === null && walked !== null) {
          const { where: each } = select(caller, selection, now, { leads: false })
          return countInParts(connection, pace, { org: caller.org, where: each, shown: SHOWN, walked })
        }
        return { count: Number(n), ids: (ids ?? []).map(({ id }) => Number(id)) }
      } catch (error) {
        if (error instanceof PremiseFailed) await refuse(caller, selection)
        throw error
      }
    },
  }
}
