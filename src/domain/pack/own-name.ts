// What of a goal is left when the name of its own project is taken out?
import type { Analyzer } from '../search/analysis'
import { namesSubject } from './plain-words'

/**
 * A goal without the name of the project that it is asked in, which most of what is of the project says too: it filled packs with what
 * has nothing else to do with the goal. As it is where it says nothing else: then it is about the whole project.
 *
 * @param project an id, or a path whose last folder is the name
 */
export function withoutOwnName(goal: string, project: string | null, analyzer: Analyzer): string {
  const name = project?.split(/[\\/]/).findLast((part) => part !== '')
  const parts = name?.match(/[\p{L}\p{N}]+/gu) ?? []
  if (parts.length === 0) return goal
  const named = new RegExp(`(?<![\\p{L}\\p{N}])${parts.join('[-_. ]?')}(?:['’]s)?(?![\\p{L}\\p{N}])`, 'giu')
  const rest = goal.replace(named, ' ')
  return rest !== goal && namesSubject(rest, analyzer) ? rest.replace(/^[\s:;,.–—-]+/, '') : goal
}
