import type { Scope } from '../domain/identity/scope'
import { openProject } from '../domain/recall/project-access'
import { collectIssues } from '../domain/validation'

/** Returns the project in the argument `project`; null without one. @throws Problem with the path of the argument */
export const namedProject = (scope: Scope, project: unknown): string | null =>
  typeof project === 'string'
    ? (collectIssues((wrong) => wrong.check('project', project, () => openProject(scope, project, 'project'))) ?? null)
    : null
