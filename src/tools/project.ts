import type { Scope } from '../domain/identity/scope'
import { openProject } from '../domain/recall/project-access'
import { collectIssues } from '../domain/validation'

/** The project that the argument `project` names; null where it names none. @throws Problem that shows where it is wrong */
export const namedProject = (scope: Scope, project: unknown): string | null =>
  typeof project === 'string'
    ? (collectIssues((wrong) => wrong.check('project', project, () => openProject(scope, project, 'project'))) ?? null)
    : null
