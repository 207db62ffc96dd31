import { invalidInput, Problem } from './errors'
import { SentBytes } from './json/sent-bytes'
import { LossyValues } from './json/unkept'
import { jsonText } from './json/write'

/** All that is wrong with a call is said at once (platform contract §3), so checks are gathered before one of them throws. */

/** One row of `error.details`: where, what was given there, and, where it is known, what would be right. */
export type ValidationIssue = { readonly path: string; readonly given: string; readonly example?: unknown }

/** Of a value that was given, told; an error is no echo. */
const MAX_SHOWN = 40
const MAX_MESSAGES = 20
const MAX_FLAWS = 100

/** A short form of what a caller sent, for a message. */
export function shortForm(value: unknown, most = MAX_SHOWN): string {
  const text =
    typeof value === 'string' || value instanceof LossyValues ? String(value) : (jsonText(value) ?? 'nothing')
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The type of a value in JSON's words, with the value where it is short. */
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

/** Several problems of one call as one; a denial comes first. One alone stays what it is. */
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

/** @returns what a look returns @throws Problem that tells everything that it noted */
export function inspected<T>(look: (wrong: Inspection) => T): T {
  const wrong = new Inspection()
  const seen = look(wrong)
  wrong.end()
  return seen
}

/** Runs checks one after the other and throws at the end, once. */
export class Inspection {
  private readonly problems: Problem[] = []

  get found(): boolean {
    return this.problems.length > 0
  }

  note(problem: Problem): void {
    this.problems.push(problem)
  }

  /** Notes that what was given at this path is invalid. */
  refuse(path: string, given: unknown, message: string): void {
    this.note(invalidInput(message, [{ path, given: givenAs(given) }]))
  }

  /**
   * @param path of what is checked; a Problem that has no details of its own gets this path and what was given there, but a denial,
   * which is no flaw of what was given
   * @returns what the check returns; undefined when it found something wrong, which `end` will tell
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

  /** @throws Problem that tells everything noted so far; nothing when that is nothing */
  end(): void {
    const [first, ...others] = this.problems
    if (first !== undefined) throw joined([first, ...others])
  }
}
