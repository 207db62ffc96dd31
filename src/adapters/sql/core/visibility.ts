import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../domain/entry/entry'
import { homesOf, type MergedProjects, type Scope } from '../../../domain/identity/scope'
import { includesCaptured } from '../../../domain/search/captured'
import type { Filter } from '../../../domain/search/filter'
import type { Millis } from '../../../domain/time'
import type { SqlDialect } from './dialect'

const TRUE = sql`1 = 1`

/**
 * The only definition of who may read and who may write an entry, as conditions on its row (platform contract §5). Every query begins with
 * the
 * scope. A list of projects is one parameter, because D1 accepts 100 in a statement.
 *
 * An entry can be read by ID in its organization until it expires, by everyone in its access scope (project and reader). Lists, searches
 * and counts
 * leave out entries whose column `listed` is 0 (archived entries and diary pages); a filter may restrict layers. Indexes, candidates and
 * counters
 * use these conditions only.
 */

/** Restrictions of a query in addition to the scope; all layers by default. */
export interface VisibilityFilter {
  readonly layers?: readonly Layer[]
  /** The agent whose diary pages are also shown to their owner; none when absent. */
  readonly diaryOf?: string | null
  /** Captured entries that are not yet approved: only these, or these too. */
  readonly captured?: 'alone' | 'too' | null
  /** Only entries whose current version a person has approved. */
  readonly isApproved?: boolean
  /** The rows are needed in the order of an index that begins with the organization, which `ORDER BY` includes too. */
  readonly inOrderOfOrg?: boolean
}

/** Returns whether a person has approved the current version. */
export const approved = (alias: string): SQL => sql.raw(`${alias}.approved_version = ${alias}.version`)

/** Returns whether an entry has expired at that time, even if the schedule has not deleted the row yet. */
export const expired = (now: Millis, alias = 'e'): SQL => sql`${sql.raw(alias)}.expires_at <= ${now}`

/**
 * Returns whether an entry is not pending deletion. A deleted entry is invisible from the commit on, although its row may be removed later
 * (`pending-deletion.ts`). Usually nothing is pending, which is checked once in a statement and not for each row.
 */
export const isActive = (alias: string, id = 'id'): SQL =>
  sql`(NOT EXISTS (SELECT 1 FROM pending_deletes) OR ${sql.raw(`${alias}.${id}`)} NOT IN (SELECT l.entry_id FROM pending_deletes l))`

/** Returns whether an entry is not being erased, whose earlier versions are invisible too. */
export const unerased = (alias: string, id: string): SQL =>
  sql`(NOT EXISTS (SELECT 1 FROM pending_deletes)
    OR NOT EXISTS (SELECT 1 FROM pending_deletes l WHERE l.entry_id = ${sql.raw(`${alias}.${id}`)} AND l.erase_history = 1))`

/**
 * Returns whether a row that is pending deletion existed at `then`, because it was deleted later; true for an active row.
 */
export const isActiveOrRetained = (alias: string, then: number | null = null): SQL => {
  const later = then === null ? sql`` : sql` AND l.at > ${then}`
  return sql`(${isActive(alias)} OR EXISTS (
    SELECT 1 FROM pending_deletes l WHERE l.entry_id = ${sql.raw(alias)}.id AND l.retain_versions = 1${later}))`
}

/** Returns whether the scope may read the entry by ID, including archived entries and the owner's diary pages. */
export const visible = (
  dialect: SqlDialect,
  scope: Scope,
  now: Millis,
  alias = 'e',
  sight: VisibilityFilter = {},
): SQL => sql`${visibleThen(dialect, scope, now, alias, sight)} AND ${isActive(alias)}`

/** Returns the same for an earlier time, also of a retained version: an entry deleted since then existed. */
export function visibleThen(
  dialect: SqlDialect,
  scope: Scope,
  then: number,
  alias = 'e',
  sight: VisibilityFilter = {},
): SQL {
  const e = sql.raw(alias)
  const alive = sql`(${e}.expires_at IS NULL OR ${e}.expires_at > ${then})`
  const layers = sight.layers === undefined ? sql`` : sql` AND ${e}.layer IN (${sql.raw(sight.layers.join(', '))})`
  const trusted = sight.isApproved ? sql` AND ${approved(alias)}` : sql``
  const org = sql`${scope.org}`
  const own = sight.inOrderOfOrg ? dialect.plan.rangeOf(sql`${e}.org`, org) : sql`${e}.org = ${org}`
  return sql`${own} AND ${alive} AND ${accessScope(dialect, scope, alias)}${layers}${trusted}`
}

/**
 * Returns whether the scope may see a version, current (`id`) or retained (`entry_id`): it could be read then, has not expired, and its
 * entry is not being erased.
 */
export const visibleState = (dialect: SqlDialect, scope: Scope, then: number, alias = 'v', id = 'entry_id'): SQL =>
  sql`${visibleThen(dialect, scope, then, alias)} AND ${unerased(alias, id)}`

/**
 * Returns whether lists, searches and counts include an entry. `listed = 1` must be written like this for the partial indexes.
 */
export const listed = (
  dialect: SqlDialect,
  scope: Scope,
  now: Millis,
  alias = 'e',
  sight: VisibilityFilter = {},
): SQL => sql`${shown(alias, sight)} AND ${visible(dialect, scope, now, alias, sight)}`

function shown(alias: string, { diaryOf = null, captured = null }: VisibilityFilter): SQL {
  const e = sql.raw(alias)
  const isCaptured = sql`${e}.listed = 0 AND ${e}.captured = 1 AND ${e}.diary = 0`
  if (captured === 'alone') return isCaptured
  if (captured === 'too') return sql`(${e}.listed = 1 OR (${isCaptured}))`
  if (diaryOf === null) return sql`${e}.listed = 1`
  return sql`(${e}.listed = 1 OR (${e}.diary = 1 AND ${e}.archived = 0 AND ${e}.agent = ${diaryOf}))`
}

/** Returns the visibility that a filter requests, including captured entries. */
export const visibilityFilterOf = (filter: Filter): VisibilityFilter =>
  includesCaptured(filter) ? { captured: 'too' } : {}

/** Returns whether an archived entry may be listed. */
export const archived = (dialect: SqlDialect, scope: Scope, now: Millis): SQL =>
  sql`e.archived = 1 AND e.diary = 0 AND e.captured = 0 AND ${visible(dialect, scope, now)}`

/**
 * Returns whether the scope may change an entry: it may read its current version, and its key may write in the entry's project. Every write
 * checks this. A caller who may not change an entry gets the same error as one who may not read it.
 */
export const changeable = (dialect: SqlDialect, scope: Scope, now: Millis, alias = 'e'): SQL =>
  sql`${visible(dialect, scope, now, alias)}${within(dialect, scope, alias)}`

/** Returns whether an entry is listed and may be changed, for calls without IDs. */
export const listedToChange = (dialect: SqlDialect, scope: Scope, now: Millis, alias = 'e'): SQL =>
  sql`${listed(dialect, scope, now, alias)}${within(dialect, scope, alias)}`

/**
 * Returns the same for a retained version (a row of `entry_versions`, or one with its `project` and `reader`): for the last version of a
 * deleted entry, whether the caller may restore or erase it; for an older one, whether the caller may write it again.
 */
export const wasChangeable = (dialect: SqlDialect, scope: Scope, alias: string): SQL =>
  sql`${accessScope(dialect, scope, alias)}${within(dialect, scope, alias)} AND ${unerased(alias, 'entry_id')}`

/** Limits a narrowed key to its projects: it may not write entries without a project. */
const within = (dialect: SqlDialect, scope: Scope, alias: string): SQL =>
  scope.projects === null ? sql`` : sql` AND ${sql.raw(alias)}.project IN ${projectList(dialect, scope.projects)}`

/**
 * Returns the condition on project and reader. Entries and thread counters have these columns; changes have them twice: before (`was_…`),
 * and after.
 */
export function accessScope(
  dialect: SqlDialect,
  scope: Scope,
  alias: string,
  noProject: 'null' | 'empty' = 'null',
  side: '' | 'was_' = '',
): SQL {
  return circleOf(dialect, scope, [sql.raw(`${alias}.${side}reader`), sql.raw(`${alias}.${side}project`)], noProject)
}

/**
 * Returns whether the scope could read the deleted entry of a deletion `c` in the log, by ID, even if it was not listed.
 */
export const lastAccessScope = (dialect: SqlDialect, scope: Scope, alias: string): SQL =>
  circleOf(dialect, scope, [sql.raw(`${alias}.last_reader`), sql.raw(`${alias}.was_project`)], 'null')

function circleOf(
  dialect: SqlDialect,
  scope: Scope,
  [by, of]: readonly [reader: SQL, project: SQL],
  noProject: 'null' | 'empty',
): SQL {
  if (scope.isWhole) return TRUE
  const reader = scope.owner === null ? sql`${by} = ''` : sql`(${by} = '' OR ${by} = ${scope.owner})`
  if (scope.projects === null) return reader
  const none = noProject === 'null' ? sql`${of} IS NULL` : sql`${of} = ''`
  return scope.projects.length === 0
    ? sql`${reader} AND ${none}`
    : sql`${reader} AND (${none} OR ${of} IN ${projectList(dialect, scope.projects)})`
}

export const projectList = (dialect: SqlDialect, projects: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(projects)}`)})`

/** Returns a condition on a project column: its key, and those of the projects merged into it. */
export function inProject(dialect: SqlDialect, scope: MergedProjects, project: string, column: SQL): SQL {
  const homes = homesOf(scope, project)
  return homes.length === 1 ? sql`${column} = ${homes[0]}` : sql`${column} IN ${projectList(dialect, homes)}`
}

/** Returns the values of `reader` in rows that the scope may read, for index lookups. */
export const readersOf = ({ owner }: Pick<Scope, 'owner'>): readonly string[] => (owner === null ? [''] : ['', owner])

/** Returns the values of `project` in counters that a narrowed scope may read ('' for none); null for any. */
export const projectsOf = ({ projects }: Pick<Scope, 'projects'>): readonly string[] | null =>
  projects === null ? null : ['', ...projects]

/**
 * Returns the same as `listed` for an auxiliary row (`entry_id`) that has the columns of visibility; '' for no project.
 */
export const isListedAuxiliary = (dialect: SqlDialect, scope: Scope, now: Millis, alias: string): SQL => {
  const t = sql.raw(alias)
  return sql`${t}.listed = 1 AND (${t}.expires_at IS NULL OR ${t}.expires_at > ${now}) AND ${isActive(alias, 'entry_id')}
    AND ${accessScope(dialect, scope, alias, 'empty')}`
}

/**
 * Returns whether an entry or a retained version is private to an owner, whatever its project and expiry: for an administrator who hands it
 * over or erases it, and never for a read.
 */
export const privateTo = ({ org }: Pick<Scope, 'org'>, owner: string, alias: string): SQL => {
  const e = sql.raw(alias)
  return sql`${e}.org = ${org} AND ${e}.reader = ${owner}`
}

/** Returns whether every reader of the other entry may read this one: it has no reader restriction, or the same. */
export const readByAllOf = (alias: string, other: SQL): SQL =>
  sql`(${sql.raw(alias)}.reader = '' OR ${sql.raw(alias)}.reader = (SELECT s.reader FROM entries s WHERE s.id = ${other}))`

/** Returns whether the scope includes the project of a row that does not belong to an entry. */
export const reachesProject = (dialect: SqlDialect, { projects }: Pick<Scope, 'projects'>, column: SQL): SQL =>
  projects === null ? sql`` : sql` AND ${column} IN ${projectList(dialect, projects)}`
