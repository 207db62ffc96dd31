import { own } from '../entry/metadata'
import { cutShort } from '../text'
import type { Millis } from '../time'
import type { Pattern } from './code-pattern'
import { headOf } from './excerpts'
import { type Memory, typeOfKind } from './memory'
import { DAY, MAX_SHOWN } from './rank-current'

/**
 * Suggestions for the current work (fabric contract §5): each states the type of an entry and the start of its text.
 */
export interface Suggestion {
  readonly id: string
  readonly type: 'memory' | 'pattern' | 'action'
  readonly content: string
  readonly confidence: number
  readonly sources: readonly number[]
}

/** A file and when it was opened. */
export interface OpenedFile {
  readonly path: string
  readonly at: Millis
}

/** The memories of the current context, from which suggestions are made. */
export interface Shown {
  readonly working: readonly Memory[]
  readonly relevant: readonly Memory[]
  readonly patterns: readonly (Pattern & { readonly memory: Memory })[]
  /** Errors and fixes that may be suggested, best first. */
  readonly bugs: readonly Memory[]
  /** Newest first. */
  readonly opened: readonly OpenedFile[]
}

export const HEAD = 120

/** Its title, else its first sentence, cut with `…`. */
const head = ({ title, text }: Memory): string => cutShort(title ?? headOf(text, 2 * HEAD), HEAD)

export const isType = (type: string) => (memory: Memory) => typeOfKind(memory.kind) === type
export const isCaptured = ({ metadata }: Pick<Memory, 'metadata'>): boolean =>
  metadata !== null && own(metadata, 'source') === 'system_auto'

/** `today`, `1 day ago`, `6 days ago`. */
export function daysAgo(at: Millis, now: Millis): string {
  const days = Math.floor(Math.max(0, now - at) / DAY)
  return days === 0 ? 'today' : days === 1 ? '1 day ago' : `${days} days ago`
}

const dayOf = (at: Millis): string => new Date(at).toISOString().slice(0, 10)

export const seenOf = (memory: Memory): { readonly times: number; readonly at: Millis } => {
  const { count, lastSeen } = memory.metadata ?? {}
  const at = typeof lastSeen === 'string' ? Date.parse(lastSeen) : Number.NaN
  return { times: typeof count === 'number' ? count : 1, at: Number.isNaN(at) ? memory.updatedAt : at }
}

export const counted = (times: number): string => (times === 1 ? 'once' : `${times} times`)

const NAMES: Readonly<Record<string, string>> = {
  decision: 'Decision',
  bug_fix: 'Fix',
  code_pattern: 'Pattern',
  convention: 'Convention',
}

/** Type, ID, date and start of a memory. A captured error is not called a fix. */
export function hintOf(memory: Memory, now: Millis): string {
  const type = typeOfKind(memory.kind)
  if (type === 'bug_fix' && isCaptured(memory)) {
    const { times, at } = seenOf(memory)
    return `Error [${memory.id}], seen ${counted(times)}, last ${daysAgo(at, now)}: ${head(memory)}`
  }
  const until = memory.supersededBy === undefined ? '' : `, superseded by [${memory.supersededBy}]`
  return `${NAMES[type] ?? 'Memory'} [${memory.id}] of ${dayOf(memory.createdAt)}${until}: ${head(memory)}`
}

/** The first fix that was written down, else the first captured error. */
export const bugFixOf = ({ relevant, working }: Shown): Memory | undefined => {
  const all = [...relevant, ...working].filter(isType('bug_fix'))
  return all.find((one) => !isCaptured(one)) ?? all[0]
}

export function suggestionsOf(shown: Shown, now: Millis): Suggestion[] {
  const { relevant, patterns } = shown
  const bugFix = bugFixOf(shown)
  const all: Suggestion[] = [
    ...relevant
      .filter(isType('decision'))
      .slice(0, 2)
      .map(
        (memory): Suggestion => ({
          ...{ id: `decision-${memory.id}`, type: 'memory', confidence: 0.8, sources: [memory.id] },
          content: hintOf(memory, now),
        }),
      ),
    ...patterns.slice(0, 2).map(
      ({ id, memory, usageCount }): Suggestion => ({
        ...{ id: `pattern-${id}`, type: 'pattern', confidence: usageCount > 5 ? 0.9 : 0.7, sources: [id] },
        content: hintOf(memory, now),
      }),
    ),
    ...(bugFix === undefined
      ? []
      : [
          {
            ...({ id: `bug-fix-${bugFix.id}`, type: 'action', confidence: 0.75, sources: [bugFix.id] } as const),
            content: hintOf(bugFix, now),
          },
        ]),
    ...(relevant.length < 3
      ? []
      : [
          {
            ...({ id: 'explore', type: 'action', confidence: 0.6, sources: relevant.map(({ id }) => id) } as const),
            content: `${relevant.length} related memories to explore`,
          },
        ]),
  ]
  return all.slice(0, MAX_SHOWN.suggestions)
}
