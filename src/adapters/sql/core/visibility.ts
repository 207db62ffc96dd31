import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../domain/entry/entry'
import { homesOf, type MergedProjects, type Scope } from '../../../domain/identity/scope'
import { includesCaptured } from '../../../domain/search/captured'
import type { Filter } from '../../../domain/search/filter'
import type { Millis } from '../../../domain/time'
import type { SqlDialect } from './dialect'

const TRUE = sql`1 = 1`

/**
 * The one rule of who sees what and who writes what, as conditions on an entry row (platform contract §5). Scope comes
 * first in every query. A list of projects is one parameter however long it is, because D1 takes 100 a statement.
 *
 * An entry is visible by id inside its org until it expires, for whoever its circle admits (project and reader). Lists,
 * searches and counts leave out what the column `listed` leaves out, archived entries and diary pages; a question about
 * some layers only says so. Indexes, candidates and counters are confined by these conditions and by no others.
 */

/** What a question is about beside who asks; every layer when it names none. */
export interface VisibilityFilter {
  readonly layers?: readonly Layer[]
  /** The agent whose own diary pages are shown to their owner beside what is listed; nobody's when absent. */
  readonly diaryOf?: string | null
  /** Captured entries, which nobody has kept yet: alone in the place of what is listed, or too. */
  readonly captured?: 'alone' | 'too' | null
  /** Only entries of which a person has approved the current version. */
  readonly isApproved?: boolean
  /** The rows are wanted in the order of an index that begins with the org, which `ORDER BY` names too. */
  readonly inOrderOfOrg?: boolean
}

/** A person has approved the current version. */
export const approved = (alias: string): SQL => sql.raw(`${alias}.approved_version = ${alias}.version`)

/** Gone for everybody at that instant, although the schedule has not removed the row yet. */
export const expired = (now: Millis, alias = 'e'): SQL => sql`${sql.raw(alias)}.expires_at <= ${now}`

/**
 * What a call has deleted is gone for everybody from its commit on, although the row may be removed behind it (leaving.ts). As a
 * rule nothing is leaving, which is asked once a statement and not for each row.
 */
export const isActive = (alias: string, id = 'id'): SQL =>
  sql`(NOT EXISTS (SELECT 1 FROM pending_deletes) OR ${sql.raw(`${alias}.${id}`)} NOT IN (SELECT l.entry_id FROM pending_deletes l))`

/** Nor does anybody see what was of an entry that is being erased. */
const unerased = (alias: string, id: string): SQL =>
  sql`(NOT EXISTS (SELECT 1 FROM pending_deletes)
    OR NOT EXISTS (SELECT 1 FROM pending_deletes l WHERE l.entry_id = ${sql.raw(`${alias}.${id}`)} AND l.erase_history = 1))`

/**
 * Of a row that is being deleted behind its call: its last state is kept, and it was there until its deletion, which happened after
 * `then`; of one that stays: true.
 */
export const isActiveOrRetained = (alias: string, then: number | null = null): SQL => {
  const later = then === null ? sql`` : sql` AND l.at > ${then}`
  return sql`(${isActive(alias)} OR EXISTS (
    SELECT 1 FROM pending_deletes l WHERE l.entry_id = ${sql.raw(alias)}.id AND l.retain_versions = 1${later}))`
}

/** Readable by id: also archived entries and the owner's own diary pages. */
export const visible = (
  dialect: SqlDialect,
  scope: Scope,
  now: Millis,
  alias = 'e',
  sight: VisibilityFilter = {},
): SQL => sql`${visibleThen(dialect, scope, now, alias, sight)} AND ${isActive(alias)}`

/** The same of an instant before now, also of a kept state: what was deleted since was there. */
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
 * A state of an entry, whether it stands (`id`) or is kept (`entry_id`), is shown to whom it was visible, as long as its own time has
 * not passed and its entry is not being erased.
 */
export const visibleState = (dialect: SqlDialect, scope: Scope, then: number, alias = 'v', id = 'entry_id'): SQL =>
  sql`${visibleThen(dialect, scope, then, alias)} AND ${unerased(alias, id)}`

/** Shown by lists, searches and counts. `listed = 1` is spelt so, because the partial indexes are. */
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

/** What a filter of a search or list is about beside who asks: captured entries too where it asks for them. */
export const visibilityFilterOf = (filter: Filter): VisibilityFilter =>
  includesCaptured(filter) ? { captured: 'too' } : {}

/** Put out of sight by the life cycle: what a list shows that asks for such alone. */
export const archived = (dialect: SqlDialect, scope: Scope, now: Millis): SQL =>
  sql`e.archived = 1 AND e.diary = 0 AND e.captured = 0 AND ${visible(dialect, scope, now)}`

/**
 * May be changed: by whoever may read it as it stands, and whose key may write where it stands. Every guard of every write asks this,
 * and whoever may not is told what whoever may not read is told.
 */
export const changeable = (dialect: SqlDialect, scope: Scope, now: Millis, alias = 'e'): SQL =>
  sql`${visible(dialect, scope, now, alias)}${within(dialect, scope, alias)}`

/** Of what lists show, what may be changed: what a call reaches that names no id. */
export const listedToChange = (dialect: SqlDialect, scope: Scope, now: Millis, alias = 'e'): SQL =>
  sql`${listed(dialect, scope, now, alias)}${within(dialect, scope, alias)}`

/**
 * The same of a state that no longer stands (a row of `entry_versions`, or one with its `project` and `reader`): of the last one before an
 * entry went, whether that entry is the caller's to bring back or to erase; of an older one, whether the caller may write it again.
 */
export const wasChangeable = (dialect: SqlDialect, scope: Scope, alias: string): SQL =>
  sql`${accessScope(dialect, scope, alias)}${within(dialect, scope, alias)} AND ${unerased(alias, 'entry_id')}`

/** A narrowed key writes inside its projects only, not what belongs to the whole org. */
const within = (dialect: SqlDialect, scope: Scope, alias: string): SQL =>
  scope.projects === null ? sql`` : sql` AND ${sql.raw(alias)}.project IN ${projectList(dialect, scope.projects)}`

/** Project and reader, which entries and thread counters carry, and changes twice: before, in columns `was_…`, and after. */
export function accessScope(
  dialect: SqlDialect,
  scope: Scope,
  alias: string,
  noProject: 'null' | 'empty' = 'null',
  side: '' | 'was_' = '',
): SQL {
  return circleOf(dialect, scope, [sql.raw(`${alias}.${side}reader`), sql.raw(`${alias}.${side}project`)], noProject)
}

/** The same of a deletion `c` in the log: who could read by its id what went, also where lists did not show it. */
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

/** A condition on the column of a project: of all keys under which its entries are stored, where others were merged into it. */
export function inProject(dialect: SqlDialect, scope: MergedProjects, project: string, column: SQL): SQL {
  const homes = homesOf(scope, project)
  return homes.length === 1 ? sql`${column} = ${homes[0]}` : sql`${column} IN ${projectList(dialect, homes)}`
}

/** What `reader` may be in rows that the scope sees: by these an index leads to them. */
export const readersOf = ({ owner }: Pick<Scope, 'owner'>): readonly string[] => (owner === null ? [''] : ['', owner])

/** What `project` may be in rows that a narrowed scope sees, as counters spell it: '' for none. Null: any. */
export const projectsOf = ({ projects }: Pick<Scope, 'projects'>): readonly string[] | null =>
  projects === null ? null : ['', ...projects]

/** The same as `listed` of a row beside an entry (its `entry_id`) that knows what lists ask of it; no project is '' there. */
export const isListedAuxiliary = (dialect: SqlDialect, scope: Scope, now: Millis, alias: string): SQL => {
  const t = sql.raw(alias)
  return sql`${t}.listed = 1 AND (${t}.expires_at IS NULL OR ${t}.expires_at > ${now}) AND ${isActive(alias, 'entry_id')}
    AND ${accessScope(dialect, scope, alias, 'empty')}`
}

/** An entry whose readers are everybody, or those of another entry: whoever reads that one by its reader reads this one too. */
export const readByAllOf = (alias: string, other: SQL): SQL =>
  sql`(${sql.raw(alias)}.reader = '' OR ${sql.raw(alias)}.reader = (SELECT s.reader FROM entries s WHERE s.id = ${other}))`

/** Rows of a project's own, which no entry stands for (`column` names the project): those that the scope reaches. */
export const reachesProject = (dialect: SqlDialect, { projects }: Pick<Scope, 'projects'>, column: SQL): SQL =>
  projects === null ? sql`` : sql` AND ${column} IN ${projectList(dialect, projects)}`
