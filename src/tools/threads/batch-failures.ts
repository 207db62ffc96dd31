import { Problem } from '../../domain/errors'
import { flawsOf } from '../../domain/flaws'
import type { Outcome } from '../../services/outcome'
import { GenerationFailed } from '../../services/writing/entries/generation-failed'
import { withExamples } from '../examples'

/** How a batch tells of items that failed: as rows of `results`, or as the error of an atomic batch. */

/** What is wrong with an item, by paths that begin at the arguments of the call. */
const flawsAt = (list: string, index: number, problem: Problem) =>
  flawsOf(problem).map((flaw) => ({ ...flaw, path: `${list}[${index}]${flaw.path === '' ? '' : `.${flaw.path}`}` }))

const itemFailure = (list: 'entries' | 'updates', index: number, id: number | null, { message, code }: Problem) => ({
  index,
  success: false,
  context_id: id,
  ...(list === 'updates' ? { updated_fields: null } : {}),
  error: message,
  code,
})

/** One row of `results` for a failed item. @param list name of the argument that holds the items */
export function failedItem(list: 'entries' | 'updates', index: number, id: number | null, problem: Problem) {
  const flaws = withExamples(flawsAt(list, index, problem))
  const details = flaws.length === 0 ? problem.details : flaws
  return { ...itemFailure(list, index, id, problem), ...(details === undefined ? {} : { details }) }
}

/**
 * The error of an atomic batch in which something was wrong.
 *
 * @param list name of the argument that holds the items
 * @param place of an item, as the message names it
 */
export function atomicFailure(
  list: 'entries' | 'updates',
  outcomes: readonly Outcome<unknown>[],
  place: (index: number) => string,
  id: (index: number) => number | null,
): Problem | null {
  const failed = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [{ index, problem: outcome.problem }]))
  const [first] = failed
  if (first === undefined) return null
  const { problem } = first
  // What is wrong in them is told once, in the details of the error.
  const beside = { results: failed.map(({ index, problem }) => itemFailure(list, index, id(index), problem)) }
  if (problem instanceof GenerationFailed)
    return new Problem(
      problem.code,
      `Generation failed at index ${first.index}: ${problem.reason}`,
      { beside },
      problem.cause,
    )
  const flaws = failed.flatMap(({ index, problem }) => flawsAt(list, index, problem))
  const details = problem.code === 'conflict' ? (problem.details ?? flaws) : flaws
  return new Problem(
    problem.code,
    `Validation failed for ${failed.length} entries. First error ${place(first.index)}: ${problem.message}`,
    {
      // What is right in itself has no flaw, such as an id that nobody knows.
      ...(details === flaws && flaws.length === 0 ? {} : { details }),
      retryable: problem.retryable,
      beside,
    },
  )
}
