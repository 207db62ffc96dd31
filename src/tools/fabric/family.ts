import type { Problem, ProblemCode } from '../../domain/errors'
import { issuesOf } from '../../domain/validation'
import { withExamples } from '../examples'
import type { Family } from '../family'

/** Error codes of the family (fabric contract §1). */
const CODES: Readonly<Record<ProblemCode, string>> = {
  invalid_input: 'VALIDATION_ERROR',
  limit_exceeded: 'VALIDATION_ERROR',
  not_found: 'NOT_FOUND',
  conflict: 'CONFLICT',
  forbidden: 'FORBIDDEN',
  unauthorized: 'FORBIDDEN',
  unsupported: 'UNSUPPORTED',
  unavailable: 'UNAVAILABLE',
  internal: 'INTERNAL_ERROR',
}

/** One validation issue with its path. */
interface Detail {
  readonly path: string
  readonly message: string
}

/** Formats issues with the given value and a valid example. */
const detailsOf = (problem: Problem): Detail[] =>
  withExamples(issuesOf(problem)).map(({ path, given, example }) => ({
    path,
    message: example === undefined ? `given ${given}` : `given ${given}; an example is ${JSON.stringify(example)}`,
  }))

export const fabric: Family = {
  name: 'fabric',
  tokens: 3_000,
  dotted: (name) => name.replace('_', '.'),
  instructions: [
    'Shared memory of your team across sessions. Call context_orient when a session begins.',
    'Before you change something, call context_recall to see whether it was decided or solved before, and context_searchCode to find the code.',
    'Store decisions with their reasons, bugs with their causes, conventions and patterns with context_store,',
    'and pass projectPath in each call. Report errors, commands and opened files with context_reportEvent.',
    'Other agents read what you store.',
  ].join(' '),
  parse: { leaves: () => false },
  failure(problem) {
    const { code, message } = problem
    const issues = detailsOf(problem)
    const details = issues.length === 0 && !Array.isArray(problem.details) ? problem.details : issues
    const structured = {
      ...{ error: message, code: CODES[code] },
      ...(details === undefined || details.length === 0 ? {} : { details }),
    }
    return { structured, text: JSON.stringify(structured) }
  },
  denials: ({ code }) => (code === CODES.forbidden ? 1 : 0),
  afterWrite: ({ services }) => services.afterwards(services.maintenance.workLeft()),
}
