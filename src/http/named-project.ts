import { invalidInput } from '../domain/errors'
import type { Actor, Scope } from '../domain/identity/scope'
import { openProject } from '../domain/recall/project-access'
import type { Services } from '../services/services'

/** The project that a request names (fabric contract §1): its key, and the scope with all keys of a merged project. */
export interface NamedProject<S> {
  readonly scope: S
  readonly project: string
}

/**
 * Reads the name of a project from a request.
 *
 * @param field name of the parameter, for messages
 * @throws Problem invalid_input, or forbidden for a project that the key does not reach
 */
export async function namedProject<S extends Scope>(
  services: Pick<Services, 'names'>,
  scope: S,
  given: unknown,
  field = 'project',
): Promise<NamedProject<S>> {
  if (typeof given !== 'string') throw invalidInput(`${field} must be the name of a project`)
  const names = await services.names.names(scope, [given])
  const project = openProject(scope, names.of(given)?.key ?? given, field)
  return { scope: names.within(scope), project }
}

/** The same for an optional name: null when absent. */
export async function namedProjectOrNone<S extends Scope>(
  services: Pick<Services, 'names'>,
  scope: S,
  given: string | null | undefined,
  field = 'project',
): Promise<{ readonly scope: S; readonly project: string | null }> {
  return given === null || given === undefined || given === ''
    ? { scope, project: null }
    : namedProject(services, scope, given, field)
}

/** The same for a request that writes under the name, which is registered before the write. */
export async function writtenProject(
  services: Pick<Services, 'names'>,
  caller: Actor,
  given: string,
): Promise<{ readonly project: string }> {
  const names = await services.names.given(caller, caller, [given])
  return { project: openProject(caller, names.of(given)?.key ?? given, 'project') }
}
