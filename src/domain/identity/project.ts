import { invalidInput } from '../errors'
import { trim, withoutTrailing } from '../text'
import type { Scope } from './scope'

/** Maximum length of a project key in code points (fabric contract §1). */
export const MAX_PROJECT = 240

/**
 * A project key without surrounding white space and trailing slashes (fabric contract §1); null when nothing is left.
 */
export function normalizeProject(project: string): string | null {
  const trimmed = trim(project)
  return withoutTrailing(trimmed, '/\\') || trimmed || null
}

/**
 * The project of a write that names none: null, or the only project of a narrowed key.
 * @param field name of the argument, for the error
 * @throws Problem when the key reaches several projects
 */
export function projectByDefault({ projects }: Pick<Scope, 'projects'>, field: string): string | null {
  if (projects === null) return null
  const [first] = projects
  if (first !== undefined && projects.length === 1) return first
  throw invalidInput(`${field} is required for this key; choose one of: ${projects.join(', ')}`, [
    { path: field, given: 'nothing', example: first },
  ])
}
