import { invalidInput } from '../errors'
import { trim, withoutTrailing } from '../text'
import type { Scope } from './scope'

/** Code points of a project's key (fabric contract §1). */
export const MAX_PROJECT = 240

/** A project key without surrounding white space and trailing slashes (fabric contract §1); null when nothing is left. */
export function normalizeProject(project: string): string | null {
  const trimmed = trim(project)
  return withoutTrailing(trimmed, '/\\') || trimmed || null
}

/**
 * Where a write without a project goes: nowhere in particular, unless the key is narrowed.
 *
 * @param field names the argument that would say it
 * @throws Problem when the key is open to several
 */
export function projectByDefault({ projects }: Pick<Scope, 'projects'>, field: string): string | null {
  if (projects === null) return null
  const [first] = projects
  if (first !== undefined && projects.length === 1) return first
  throw invalidInput(`${field} is required for this key; choose one of: ${projects.join(', ')}`, [
    { path: field, given: 'nothing', example: first },
  ])
}
