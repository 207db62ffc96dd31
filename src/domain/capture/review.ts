import { invalidInput } from '../errors'
import type { Millis } from '../time'
import { isFields } from './fields'

/** What a review lists. */
export interface ReviewQuery {
  /** Null: of all. */
  readonly project: string | null
  readonly client: string | null
  readonly after: ReviewPlace | null
  readonly limit: number
}

/** Where an entry stands in that list. Milliseconds since 1970. */
export interface ReviewPlace {
  readonly updatedAt: Millis
  readonly id: number
}

export interface ReviewedEntry extends ReviewPlace {
  readonly title: string | null
  /** `session`, or what a proposal of a model is to be. */
  readonly kind: string
  /** `session:<client>:<id>`: proposals are stored in the thread of their session. */
  readonly threadId: string
  /** The words of the session on which a proposal rests. */
  readonly quote: string | null
  readonly project: string | null
  readonly branch: string | null
  readonly client: string | null
  readonly expiresAt: Millis | null
  readonly version: number
  /** The first characters of its text. */
  readonly preview: string
}

/** What a review did, as `undo` is told of it: the `change_id` of an answer of `keep`, `merge` and `drop` (capture contract §5). */
export type Reviewed =
  /** The entry at the version that it had before. */
  | { readonly did: 'keep'; readonly id: number; readonly version: number }
  /** Entries that were approved together, at the versions that they had before. */
  | { readonly did: 'keep_all'; readonly kept: readonly (readonly [id: number, version: number])[] }
  /** The entry that was made, at its version, and the call that dropped so many sources. */
  | {
      readonly did: 'merge'
      readonly id: number
      readonly version: number
      readonly dropped: string
      readonly sources: number
    }
  | { readonly did: 'drop'; readonly dropped: string }

/** Sessions that wait are counted up to this number. */
export const MOST_WAITING = 100

/** Entries that one call approves, merges or drops. */
export const MAX_REVIEWED = 20

const CHANGE_ID = /^[\w-]{1,64}$/
const isId = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0

const isKept = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(isId)

/** Opaque to whoever gets it. Whatever it says is asked of the caller's rights once more. */
export const toChangeId = (reviewed: Reviewed): string => btoa(JSON.stringify(reviewed)).replaceAll('=', '')

/** @throws Problem invalid_input for what is no such id */
export function readChangeId(given: unknown): Reviewed {
  const read = typeof given === 'string' ? parsed(given) : null
  if (isFields(read)) {
    const { did, id, version, dropped, sources, kept } = read
    const drops = typeof dropped === 'string' && CHANGE_ID.test(dropped)
    if (did === 'keep' && isId(id) && isId(version)) return { did, id, version }
    if (
      did === 'keep_all' &&
      Array.isArray(kept) &&
      kept.length > 0 &&
      kept.length <= MAX_REVIEWED &&
      kept.every(isKept)
    )
      return { did, kept }
    if (did === 'merge' && isId(id) && isId(version) && drops)
      return { did, id, version, dropped, sources: isId(sources) ? sources : 1 }
    if (did === 'drop' && drops) return { did, dropped }
  }
  throw invalidInput('change_id must be the one that keep, merge or drop answered')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(atob(text))
  } catch {
    return null
  }
}

/** An entry whose text addresses an agent, for a person to approve. */
export interface AddressingEntry {
  readonly id: number
  readonly version: number
  readonly title: string | null
  readonly project: string | null
  /** Whether the text or the title addresses an agent. */
  readonly addresses: boolean
  readonly preview: string
  readonly isCut: boolean
}

/** The part of their words that two sessions share, from which they are listed together. */
const SIMILAR = 0.6
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_.\-/]+/gu
/** The line of client and place, which sessions of a project have in common. */
const FIRST_LINE = /^[^\n]*\n+/

type Compared = Pick<ReviewedEntry, 'title' | 'project' | 'preview'>

const wordsOf = ({ title, preview }: Compared): ReadonlySet<string> =>
  new Set(`${title ?? ''}\n${preview.replace(FIRST_LINE, '')}`.toLowerCase().match(WORD) ?? [])

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length
  const all = a.size + b.size - shared
  return all === 0 ? 0 : shared / all
}

/**
 * Lists sessions of one project that have most words in common together, each group at the position of its first session. A session
 * belongs to the first group with whose first session it shares 60 % of the words.
 */
export function groupSimilar<T extends Compared>(sessions: readonly T[]): readonly (readonly T[])[] {
  const groups: { readonly words: ReadonlySet<string>; readonly project: string | null; readonly members: T[] }[] = []
  for (const session of sessions) {
    const words = wordsOf(session)
    const group = groups.find((one) => one.project === session.project && similarity(one.words, words) >= SIMILAR)
    if (group === undefined) groups.push({ words, project: session.project, members: [session] })
    else group.members.push(session)
  }
  return groups.map(({ members }) => members)
}
