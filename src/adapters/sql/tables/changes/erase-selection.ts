import { type SQL, sql } from 'drizzle-orm'
import type { Erased, EraseSelection } from '../../../../domain/entry/selection'
import { MOST_DELETED } from '../../../../domain/identity/audit'
import type { Caller, Scope } from '../../../../domain/identity/scope'
import type { SqlDialect } from '../../core/dialect'
import { accessScope, changeable, isActive, visible, wasChangeable } from '../../core/visibility'

/** Selects the entries of an erasure, including those deleted before. */

/** Earlier than any end of an entry. */
export const BEFORE_ALL = Number.MIN_SAFE_INTEGER
/** Maximum number of deleted entries that one call checks, in each table. */
const MAX_CHECKED = MOST_DELETED + 1

/** The entries to erase: by ID, or by thread. */
export type Meant = Pick<EraseSelection, 'ids' | 'threadIds'>

/** Returns the IDs of deleted entries of a thread, by its index; some may exist again. */
function deletedOf(dialect: SqlDialect, org: string, threads: readonly string[]): SQL {
  const gone = (alias: string) => sql`
    NOT ${dialect.plan.exists(sql`SELECT 1 FROM entries e WHERE e.id = ${sql.raw(alias)}.entry_id`)}
    ORDER BY ${sql.raw(alias)}.entry_id LIMIT ${MAX_CHECKED}`
  const of = (column: string) => sql`${sql.raw(column)} ${dialect.inList(sql`${JSON.stringify(threads)}`)}`
  return sql`
    SELECT kept.entry_id FROM (
      SELECT v.entry_id FROM entry_versions v WHERE v.org = ${org} AND ${of('v.thread_id')} AND v.deleted = 1 AND ${gone('v')}
    ) kept
    UNION
    SELECT noted.entry_id FROM (
      SELECT c.entry_id FROM changes c
      WHERE c.org = ${org} AND ${of('c.was_thread')} AND c.action = 'delete' AND c.erased = 0 AND ${gone('c')}
    ) noted`
}

/**
 * Returns the IDs, as `id`, of entries that were deleted before: by their retained versions, or else by the change log, which is retained
 * as
 * long as receipts. An entry counts if the caller could change its last deleted version, since it may have been restored and hidden in
 * between.
 * Entries of a thread count if it was their last one, except diary pages.
 *
 * @param own whether the caller could change them; otherwise those that it could only read
 */
export function deletedBefore(dialect: SqlDialect, caller: Scope, { ids, threadIds = [] }: Meant, own = true): SQL {
  const { org } = caller
  const wanted = dialect.plan.oneOf(
    ids
      ? sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}`
      : deletedOf(dialect, org, threadIds),
  )
  const changeable = wasChangeable(dialect, caller, 'gone')
  const mine = own ? changeable : sql`${accessScope(dialect, caller, 'gone')} AND (${changeable}) IS NOT TRUE`
  const ofThread = ids
    ? sql``
    : sql` AND gone.diary = 0 AND gone.thread_id ${dialect.inList(sql`${JSON.stringify(threadIds)}`)}`
  return sql`
    SELECT gone.entry_id AS id FROM (
      SELECT d.*, row_number() OVER (PARTITION BY d.entry_id ORDER BY d.version DESC, d.diary DESC) AS place
      FROM (
        SELECT v.entry_id, v.ended_version AS version, v.project, v.reader, v.thread_id, v.diary
        FROM entry_versions v
        WHERE v.entry_id ${wanted} AND ${dialect.plan.filterOnly(sql`v.deleted = 1 AND v.org = ${org}`)}
        UNION ALL
        SELECT c.entry_id, c.version, c.was_project, c.last_reader, c.was_thread, 0
        FROM changes c
        WHERE c.entry_id ${wanted} AND c.action = 'delete' AND c.erased = 0
          AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`c.org`)} = ${org}`)}
      ) d
    ) gone
    WHERE gone.place = 1 AND ${mine}${ofThread}
      AND NOT ${dialect.plan.exists(sql`SELECT 1 FROM entries e WHERE e.id = gone.entry_id`)} AND ${isActive('gone', 'entry_id')}`
}

/**
 * Matches the entries of a thread to erase: archived and expired ones too, but not diary pages, which only their ID selects.
 */
export const erasable = (dialect: SqlDialect, scope: Scope, alias: 'e' | 'entries'): SQL =>
  sql`${changeable(dialect, scope, BEFORE_ALL, alias)} AND ${sql.raw(alias)}.diary = 0`

/** Matches the entries of threads, by the index of threads. */
export const entriesOf = (dialect: SqlDialect, org: string, threads: readonly string[]): SQL =>
  sql`${dialect.jsonRows(sql`${JSON.stringify(threads)}`)} wanted
    ${dialect.plan.follow('entries', 'e', sql`e.org = ${org} AND e.thread_id = wanted.value`)}`

/**
 * Returns the IDs of entries of threads that match a condition on `e`, by one index for listed entries and one for the others.
 */
function ofThreads(dialect: SqlDialect, org: string, threads: readonly string[], condition: SQL): SQL {
  const of = (listed: SQL) => sql`
    SELECT e.id FROM ${entriesOf(dialect, org, threads)} WHERE e.listed = ${listed} AND ${condition}`
  return sql`${of(sql`1`)} UNION ALL ${of(sql`0`)}`
}

/** Returns the IDs to erase of threads. */
export const erasableOf = (dialect: SqlDialect, scope: Scope, threads: readonly string[]): SQL =>
  ofThreads(dialect, scope.org, threads, erasable(dialect, scope, 'e'))

/**
 * Returns the number of entries of the threads that the caller can or could read but may not change: those without project, for a narrowed
 * key. Entries selected by ID are not counted: for them the error is that of an unreadable entry.
 */
function left(dialect: SqlDialect, caller: Caller, { threadIds }: Meant): SQL {
  if (caller.projects === null || threadIds === undefined) return sql`0`
  const gone = deletedBefore(dialect, caller, { threadIds }, false)
  const stays = sql`${visible(dialect, caller, BEFORE_ALL)} AND (${changeable(dialect, caller, BEFORE_ALL)}) IS NOT TRUE`
  const standing = ofThreads(dialect, caller.org, threadIds, sql`${stays} AND e.diary = 0`)
  return sql`(SELECT count(*) FROM (${gone}) kept) + (SELECT count(*) FROM (${standing} LIMIT ${MOST_DELETED}) others)`
}

/**
 * Returns the rows that a call erases, as JSON, after they are listed in `pending_deletes` and before they are removed.
 */
export function erasedNow(dialect: SqlDialect, caller: Caller, meant: Meant): SQL {
  const own = sql`FROM pending_deletes l`
  const ofCall = sql`l.org = ${caller.org} AND l.change_id = ${caller.changeId}`
  const entry = dialect.plan.follow('entries', 'e', sql`e.id = l.entry_id`)
  return dialect.jsonRow([
    sql`(SELECT count(*) ${own} WHERE ${ofCall})`,
    sql`(SELECT count(*) ${own} ${entry} WHERE ${ofCall} AND e.archived = 1)`,
    sql`(SELECT count(*) ${own} WHERE ${ofCall} AND NOT ${dialect.plan.exists(sql`SELECT 1 FROM entries e WHERE e.id = l.entry_id`)})`,
    sql`${left(dialect, caller, meant)}`,
  ])
}

/** @param output by `erasedNow` */
export function toErased(output: unknown): Erased {
  const [count = 0, archived = 0, before = 0, left = 0] = (Array.isArray(output) ? output : []).map(Number)
  return { count, archived, before, left }
}
