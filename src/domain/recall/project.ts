import { invalidInput, Problem } from '../errors'
import { MAX_PROJECT, normalizeProject } from '../identity/project'
import type { Scope } from '../identity/scope'
import { codePointLength, unstorable } from '../text'

/** The project of a fabric call: an opaque key, whatever it looks like (fabric contract §1). */

/** What a model is told where it finds nothing in a project that may be another's name. */
export const unknownProject = (project: string): string =>
  `no memory of layers 1 and 2 stands in project ${project}; look whether it is spelt so`

/**
 * A key as it is stored, when the scope may use it.
 *
 * @param field names the argument in messages
 * @throws Problem invalid_input for a blank or too long key; forbidden for one that the scope is not open to
 */
export function openProject(scope: Scope, given: string, field = 'projectPath'): string {
  const flaw = unstorable(given)
  if (flaw !== null) throw invalidInput(`${field} ${flaw}`)
  const project = normalizeProject(given)
  if (project === null) throw invalidInput(`${field} is blank; leave it out or name a project`)
  if (codePointLength(project) > MAX_PROJECT) throw invalidInput(`${field} is longer than ${MAX_PROJECT} characters`)
  if (scope.projects !== null && !scope.projects.includes(project))
    throw new Problem('forbidden', `Project access denied: ${project}`)
  return project
}
