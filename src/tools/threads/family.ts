import { issuesOf } from '../../domain/validation'
import { withExamples } from '../examples'
import type { Family } from '../family'
import { isRecord } from '../record'

const FILTERS = ['metadata', 'metadata_filters']
const ITEMS = ['entries', 'updates']

/** Threads: entries of conversations and tasks (threads contract). */
export const threads: Family = {
  name: 'threads',
  tokens: 4_800,
  parse: {
    // A rejected filter has its own answer with all problems in `validation_errors` (threads contract §1). A problem of a batch
    // item is the error of that item (§2.7).
    leaves: (argument, shown) =>
      ITEMS.includes(argument) ||
      (FILTERS.includes(argument) && isRecord(shown.properties) && 'metadata_filters' in shown.properties),
  },
  failure(problem) {
    const { code, message, retryable, beside } = problem
    const issues = issuesOf(problem)
    const details = issues.length > 0 ? withExamples(issues) : problem.details
    const error = { code, message, retryable, ...(details === undefined ? {} : { details }) }
    const more = { ...(details === undefined ? {} : { details }), ...beside }
    const text = Object.keys(more).length === 0 ? message : `${message}\n${JSON.stringify(more)}`
    return { structured: { error, ...beside }, text }
  },
  denials({ error, results }) {
    const items = Array.isArray(results) ? results : []
    const denied = items.filter((item) => isRecord(item) && item.code === 'forbidden').length
    return denied === 0 && isRecord(error) && error.code === 'forbidden' ? 1 : denied
  },
  afterWrite: ({ services }) => services.afterwards(services.maintenance.workLeft()),
}
