import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/scope'

/** The one rule of who sees what, as conditions on an entry row (platform contract §5). Scope comes first in every query. */

/** Readable by id: also archived entries and the owner's own diary pages. */
export function readable(scope: Scope, now: number, alias = 'e'): SQL {
  const e = sql.raw(alias)
  return sql`${e}.org = ${scope.org} AND (${e}.expires_at IS NULL OR ${e}.expires_at > ${now}) AND ${circle(scope, alias)}`
}

/** Shown by lists, searches and counts. `listed = 1` is spelt so, because the partial indexes are. */
export const listed = (scope: Scope, now: number, alias = 'e'): SQL =>
  sql`${sql.raw(alias)}.listed = 1 AND ${readable(scope, now, alias)}`

/** Project and reader, which entries and thread counters both carry. */
export function circle(scope: Scope, alias: string, noProject: 'null' | 'empty' = 'null'): SQL {
  const e = sql.raw(alias)
  const reader = scope.owner === null ? sql`${e}.reader = ''` : sql`(${e}.reader = '' OR ${e}.reader = ${scope.owner})`
  if (scope.projects === null) return reader
  const none = noProject === 'null' ? sql`${e}.project IS NULL` : sql`${e}.project = ''`
  const open = sql.join(
    scope.projects.map((project) => sql`${project}`),
    sql`, `,
  )
  return scope.projects.length === 0
    ? sql`${reader} AND ${none}`
    : sql`${reader} AND (${none} OR ${e}.project IN (${open}))`
}
