import { inspected } from '../domain/flaws'
import type { Scope } from '../domain/identity/scope'
import { openProject } from '../domain/recall/project'

/** Returns the project in the argument `project`; null without one. @throws Problem with the path of the argument */
export const namedProject = (scope: Scope, project: unknown): string | null =>
  typeof project === 'string'
    ? (inspected((wrong) => wrong.check('project', project, () => openProject(scope, project, 'project'))) ?? null)
    : null
