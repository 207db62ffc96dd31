import { type SQL, sql } from 'drizzle-orm'
import { IN_FLIGHT, WORK_KINDS } from '../../../../domain/entry/work'
import type { Millis } from '../../../../domain/time'
import type { PackScope, UnconditionalRequest } from '../../../../ports/packs'
import type { SqlDialect } from '../../core/dialect'
import { inProject, listed, type VisibilityFilter, visible } from '../../core/visibility'
import { NEWEST_LINKS } from '../links/links'

/** Reads of packs (packs contract). Each begins with known entries and looks up rows from there. */
export interface PackContext {
  readonly dialect: SqlDialect
  readonly visibility: PackScope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

const words = (list: readonly string[]): SQL => sql.raw(list.map((word) => `'${word}'`).join(', '))

/** Returns whether only approved entries count. */
const trustOf = ({ isApproved = false }: PackScope): VisibilityFilter => ({ isApproved })

export const inPack = ({ dialect, visibility, now }: PackContext, alias = 'e'): SQL =>
  listed(dialect, visibility.scope, now, alias, visibility)

/**
 * Returns the links `l` of an entry at one of their ends, as a condition that uses the index of that end only. A link exists as long as its
 * source; code that follows it checks the target.
 */
export const linksOf = ({ dialect, visibility }: PackContext, end: 'from_id' | 'to_id', id: SQL): SQL => {
  const ofOrg = sql`l.org = ${visibility.scope.org}`
  return end === 'from_id'
    ? sql`${ofOrg} AND l.from_id = ${id}`
    : sql`l.to_id = ${id} AND ${dialect.plan.filterOnly(ofOrg)}`
}

/** Returns the newest links to an entry; with `relation`, those of that relation, which have an index of their own. */
export function newestLinksTo({ dialect, visibility }: PackContext, id: SQL, relation?: 'contradicts'): SQL {
  const said = (alias: string) =>
    relation === undefined ? sql`` : sql` AND ${sql.raw(`${alias}.relation = '${relation}'`)}`
  // An entry belongs to one organization, and so do its links.
  const ofOrg = dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`l.org`)} = ${visibility.scope.org}`)
  return sql`l.to_id = ${id} AND ${ofOrg}${said('l')} AND l.from_id >= coalesce((
    SELECT few.from_id FROM links few WHERE few.to_id = ${id}${said('few')}
    ORDER BY few.from_id DESC LIMIT 1 OFFSET ${sql.raw(String(NEWEST_LINKS - 1))}), 0)`
}

/** Returns work in progress of one project, or without project; the statuses are written as in the index. */
export function inFlightStatement(context: PackContext, { project, inFlight }: UnconditionalRequest): SQL {
  const { dialect, visibility, now } = context
  return sql`
    SELECT e.id FROM entries e
    WHERE ${listed(dialect, visibility.scope, now, 'e', trustOf(visibility))} AND e.status IN (${words(IN_FLIGHT)})
      AND ${project === null ? sql`e.project IS NULL` : inProject(dialect, visibility.scope, project, sql`e.project`)}
      AND e.kind IN (${words(WORK_KINDS)})
    ORDER BY e.updated_at DESC, e.id DESC LIMIT ${inFlight}`
}

/** Returns the newest diary pages; null without a diary. */
export function diaryStatement({ dialect, visibility, now }: PackContext, limit: number): SQL | null {
  const { scope, diaryOf } = visibility
  if (diaryOf === null || scope.owner === null) return null
  return sql`
    SELECT e.id FROM entries e
    WHERE e.diary = 1 AND e.archived = 0 AND e.reader = ${scope.owner}
      AND substr(e.agent, 1, 64) = substr(${diaryOf}, 1, 64) AND e.agent = ${diaryOf}
      AND ${visible(dialect, scope, now, 'e', trustOf(visibility))}
    ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit}`
}
