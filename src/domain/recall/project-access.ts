import { invalidInput, Problem } from '../errors'
import { MAX_PROJECT, normalizeProject } from '../identity/project'
import type { Scope } from '../identity/scope'
import { codePointLength, unstorable } from '../text'

/** Validates the project of a fabric call: an opaque key of any form (fabric contract §1). */

/** The warning when nothing was found in a project without memories, whose name may be misspelled. */
export const unknownProject = (project: string): string =>
  `Project ${project} has no memories in layers 1 and 2. Check the spelling of the project.`

/**
 * Normalizes a project key and checks that the scope reaches it.
 * @param field name of the argument, for errors
 * @throws Problem invalid_input for a blank or too long key; forbidden for a key that the scope does not reach
 */
export function openProject(scope: Scope, given: string, field = 'projectPath'): string {
  const flaw = unstorable(given)
  if (flaw !== null) throw invalidInput(`${field} ${flaw}`)
  const project = normalizeProject(given)
  if (project === null) throw invalidInput(`${field} is blank. Leave it out or pass the name of a project`)
  if (codePointLength(project) > MAX_PROJECT) throw invalidInput(`${field} is longer than ${MAX_PROJECT} characters`)
  if (scope.projects !== null && !scope.projects.includes(project))
    throw new Problem('forbidden', `Project access denied: ${project}`)
  return project
}
