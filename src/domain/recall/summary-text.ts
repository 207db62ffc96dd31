import { codePointLength, cutShort, firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'
import type { Millis } from '../time'
import { FAILURE } from './events/outcomes'
import { sharedLength } from './excerpts'
import { MEMORY_TYPES, type MemoryType } from './memory'

/**
 * Builds the text of a summary from the memories that it replaces, in their own words and without a model (fabric
 * contract §8).
 */
export interface Original {
  readonly id: number
  readonly type: MemoryType
  readonly title: string | null
  /** The start of its content. */
  readonly text: string
  readonly tags: readonly string[]
  readonly origin: 'user_explicit' | 'ai_inferred' | 'system_auto'
  readonly weight: number
  /** Number of entries that link to it. */
  readonly links: number
  readonly accesses: number
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
}

/** The text of a summary and the memories that it replaces. */
interface Digest<One extends Original = Original> {
  readonly text: string
  /** Memories with a line in the text, oldest first. */
  readonly included: readonly One[]
}

/** Code points per token. */
const TOKEN = 4
const LINE = { least: 120, most: 1_000 }

const ENDS = '.!?。！？'

const day = (ms: Millis): string => new Date(ms).toISOString().slice(0, 10)

/** Number of memories by type, most first. */
function countsOf(originals: readonly Original[]): [type: MemoryType, count: number][] {
  return MEMORY_TYPES.map((type): [MemoryType, number] => [type, originals.filter((one) => one.type === type).length])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
}

/** The first line: number, dates and types of the memories. */
function beginningOf(originals: readonly Original[]): string {
  const times = originals.map(({ createdAt }) => createdAt)
  const many = originals.length === 1 ? '1 memory' : `${originals.length} memories`
  const types = countsOf(originals).map(([type, count]) => `${count} ${type}`)
  return `Summary of ${many}, ${day(Math.min(...times))} to ${day(Math.max(...times))}: ${types.join(', ')}.`
}

const RANKS = { user_explicit: 2, ai_inferred: 1, system_auto: 0 } as const

/** Orders memories by value, highest first. */
const byWorth = (a: Original, b: Original): number =>
  RANKS[b.origin] - RANKS[a.origin] ||
  b.weight - a.weight ||
  b.links - a.links ||
  b.accesses - a.accesses ||
  b.createdAt - a.createdAt ||
  b.id - a.id

/** The line with the error of a failed command, or the first line of an error; null for other memories. */
function errorOf({ tags, text }: Original): string | null {
  if (!tags.includes('auto_capture') || !tags.includes('error')) return null
  const lines = text.split('\n').filter((line) => trim(line) !== '')
  return (tags.includes('command_failed') ? lines.find((line) => FAILURE.test(line)) : null) ?? lines[0] ?? null
}

/** The text of a memory's line: its title, else its error, else its content; white space collapsed. */
const headOf = (one: Original): string =>
  trim((trim(one.title ?? '') || errorOf(one) || one.text).replace(WHITE_SPACE_RUN, ' '))

/** Cuts a text to `most` code points, at the end of a sentence, else of a word. */
export function shortened(head: string, most: number): string {
  if (codePointLength(head) <= most) return head
  const cut = firstCodePoints(head, most - 1)
  for (let i = cut.length - 1; i > 0; i--)
    if (ENDS.includes(cut[i] as string) && (head[i + 1] ?? ' ') === ' ') return cut.slice(0, i + 1)
  return cutShort(head, most)
}

/** Memories with the same type and text, newest first. */
interface Line<One extends Original> {
  readonly head: string
  readonly ones: One[]
}

/** Groups memories by type and text, most valuable first. */
function linesOf<One extends Original>(originals: readonly One[]): Line<One>[] {
  const lines = new Map<string, Line<One>>()
  for (const one of originals.toSorted(byWorth)) {
    const head = headOf(one)
    const key = `${one.type} ${head}`
    const known = lines.get(key)
    if (known === undefined) lines.set(key, { head, ones: [one] })
    else known.ones.push(one)
  }
  for (const { ones } of lines.values()) ones.sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  return [...lines.values()]
}

const frameOf = <One extends Original>({ ones }: Line<One>) => {
  const [newest] = ones as [One, ...One[]]
  return [`- ${newest.type}: `, `${ones.length === 1 ? '' : ` ×${ones.length}`} [#${newest.id}]`] as const
}

/**
 * The summary of memories. The most valuable ones get a line each, as far as the budget allows, at least one.
 * @param originals at least one
 * @param targetTokens budget, at four code points per token
 */
export function digestOf<One extends Original>(originals: readonly One[], targetTokens: number): Digest<One> {
  const lines = linesOf(originals)
  const frames = lines.map((line) => frameOf(line))
  const costs = frames.map((frame) => codePointLength(frame.join('')) + 1)
  // A first line about fewer memories is not longer.
  let left = targetTokens * TOKEN - codePointLength(beginningOf(originals))
  const whole = lines.map(({ head }, i) => codePointLength(head) + (costs[i] as number))
  const share = Math.max(LINE.least, sharedLength(whole, left, LINE.most))
  const shown: string[] = []
  const included: One[] = []
  for (const [i, { head, ones }] of lines.entries()) {
    const [before, behind] = frames[i] as readonly [string, string]
    const cost = costs[i] as number
    // The first line is cut to the budget; any other remains for the next summary.
    const most = i === 0 ? Math.min(share, Math.max(left, cost + 2)) : share
    const line = `${before}${shortened(head, most - cost)}${behind}`
    const length = codePointLength(line) + 1
    if (length > left && i > 0) break
    left -= length
    shown.push(line)
    included.push(...ones)
  }
  included.sort((a, b) => a.createdAt - b.createdAt || a.id - b.id)
  return { text: [beginningOf(included), ...shown].join('\n'), included }
}
