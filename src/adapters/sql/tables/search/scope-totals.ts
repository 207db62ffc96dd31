import { type SQL, sql } from 'drizzle-orm'
import { listed } from '../../core/visibility'
import { projectScopeCounts } from '../counts/layer-counts'
import type { ProjectScopeContext } from '../entries/project-scope-rows'
import type { Confined } from './scope-terms'

/**
 * Everything that a search may look at, counted: in one room, in some layers, or all, in all threads; nothing where nobody asks.
 *
 * @param place of captured entries no counter knows
 * @param isExact whether what is being deleted is taken off
 */
export function totalsOf(
  context: ProjectScopeContext,
  place: Omit<Confined, 'thread'>,
  wanted: boolean,
  isExact = true,
): SQL {
  if (!wanted) return sql`SELECT 0 AS entries, 0 AS words, NULL AS first_id, NULL AS last_id`
  const { dialect, scope, now } = context
  if (place.captured)
    return sql`SELECT count(*) AS entries, coalesce(sum(e.text_words), 0) AS words, min(e.id) AS first_id, max(e.id) AS last_id
      FROM entries e WHERE ${listed(dialect, scope, now, 'e', { captured: 'alone' })}`
  return projectScopeCounts(context, place, isExact)
}
