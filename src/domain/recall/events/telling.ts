import { DAY_MS, type Millis } from '../../time'

/** What the result of an event says (fabric contract §7). */
interface Similar {
  readonly id: number
  readonly type: string
  readonly captured: boolean
  readonly seenAt: Millis
  readonly supersededBy?: number | undefined
}

/** In whole days (fabric contract §5). */
function daysAgo(durationMs: Millis): string {
  const days = Math.floor(durationMs / DAY_MS)
  return days < 1 ? 'today' : days === 1 ? '1 day ago' : `${days} days ago`
}

/** What a memory is, in a word. */
const wordOf = ({ type, captured }: Similar): string =>
  type === 'bug_fix' ? (captured ? 'error' : 'fix') : type === 'code_pattern' ? 'pattern' : type

export const countedAction = (action: string): string =>
  action === 'stored_error_memory' ? 'counted_error_memory' : action

/**
 * @param message what is said without a failure
 * @param known what is known of the failure; null for none
 */
export function tellRecorded(
  message: string,
  known: {
    readonly before: { readonly count: number } | null
    readonly similar: { readonly shown: readonly Similar[]; readonly count: number }
  } | null,
  now: Millis,
): string {
  if (known === null) return message
  const { before, similar } = known
  const recorded = before === null ? message : `Error recorded, seen ${before.count + 1} times.`
  const [first] = similar.shown
  if (first === undefined) return `${recorded} No similar error known.`
  const memories = similar.count === 1 ? 'memory' : 'memories'
  const until = first.supersededBy === undefined ? '' : `, superseded by [${first.supersededBy}]`
  return `${recorded} Found ${similar.count} similar ${memories}: ${wordOf(first)} [${first.id}], ${daysAgo(now - first.seenAt)}${until}.`
}
