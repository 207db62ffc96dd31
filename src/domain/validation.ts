import { invalidInput, Problem } from './errors'
import { LossyValues } from './json/lossy-values'
import { SentBytes } from './json/sent-bytes'
import { jsonText } from './json/write'

/** Collects all validation issues of a call, so that one error reports them together (platform contract §3). */

/** One row of `error.details`: the path, the value, and an example of a valid value. */
export type ValidationIssue = { readonly path: string; readonly given: string; readonly example?: unknown }

/** Maximum length of a value quoted in an error. */
const MAX_SHOWN = 40
const MAX_MESSAGES = 20
const MAX_FLAWS = 100

/** The short form of a value, for messages. */
export function shortForm(value: unknown, most = MAX_SHOWN): string {
  const text =
    typeof value === 'string' || value instanceof LossyValues ? String(value) : (jsonText(value) ?? 'nothing')
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The JSON type of a value, with the value where it is short. */
export function givenAs(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `array of ${value.length}`
  if (value instanceof SentBytes) return 'string'
  if (value instanceof LossyValues && value.flaw === 'too_long') return 'string'
  if (value instanceof LossyValues) return value.flaw === 'too_deep' ? 'object' : `number ${value}`
  if (typeof value === 'object') return 'object'
  return typeof value === 'string' ? `string "${shortForm(value)}"` : `${typeof value} ${shortForm(value)}`
}

export const issuesOf = ({ details }: Problem): readonly ValidationIssue[] =>
  Array.isArray(details) ? (details as readonly ValidationIssue[]) : []

/** Joins several problems of one call into one, denials first. A single problem is returned unchanged. */
function joined(problems: readonly [Problem, ...Problem[]]): Problem {
  if (problems.length === 1) return problems[0]
  const ordered = problems.toSorted((a, b) => Number(b.code === 'forbidden') - Number(a.code === 'forbidden'))
  const messages = [...new Set(ordered.map(({ message }) => message))]
  const more = messages.length - MAX_MESSAGES
  const beside = Object.assign({}, ...ordered.map((problem) => problem.beside))
  return new Problem(
    (ordered[0] as Problem).code,
    `${messages.slice(0, MAX_MESSAGES).join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    { details: ordered.flatMap((problem) => issuesOf(problem)).slice(0, MAX_FLAWS), beside },
  )
}

/** Runs checks that collect issues, and returns their result. @throws Problem with all issues */
export function collectIssues<T>(look: (wrong: IssueCollector) => T): T {
  const wrong = new IssueCollector()
  const seen = look(wrong)
  wrong.end()
  return seen
}

/** Collects problems of several checks; `end` throws them together. */
export class IssueCollector {
  private readonly problems: Problem[] = []

  get found(): boolean {
    return this.problems.length > 0
  }

  note(problem: Problem): void {
    this.problems.push(problem)
  }

  /** Records that the value at a path is invalid. */
  refuse(path: string, given: unknown, message: string): void {
    this.note(invalidInput(message, [{ path, given: givenAs(given) }]))
  }

  /**
   * Runs a check and records its problem. A problem without details gets the path and the value, except for a denial,
   * which is not an issue of the value.
   * @param path of the checked value
   * @returns the result of the check; undefined if it failed
   */
  check<T>(path: string, given: unknown, step: () => T): T | undefined {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { code, message, beside, cause, details = [{ path, given: givenAs(given) }] } = error
      const isBare = code === 'forbidden' && error.details === undefined
      this.note(isBare ? error : new Problem(code, message, { details, beside }, cause))
      return undefined
    }
  }

  /** @throws Problem with everything recorded so far; returns if there is nothing */
  end(): void {
    const [first, ...others] = this.problems
    if (first !== undefined) throw joined([first, ...others])
  }
}
