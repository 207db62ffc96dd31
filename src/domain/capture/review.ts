import { invalidInput } from '../errors'
import type { Millis } from '../time'
import { isFields } from './json-fields'

/** Metadata of a waiting proposal: who can read it once it is approved. */
export const APPROVED_AUDIENCE = 'approved_audience'

/** The filter and page of a review list. */
export interface ReviewQuery {
  /** Null for all projects. */
  readonly project: string | null
  readonly client: string | null
  readonly after: ReviewPlace | null
  readonly limit: number
}

/** Position of an entry in the list. Milliseconds since 1970. */
export interface ReviewPlace {
  readonly updatedAt: Millis
  readonly id: number
}

/** Returns the cursor of the page after an entry. */
export const cursorAfter = ({ updatedAt, id }: ReviewPlace): string => `${updatedAt}-${id}`

/** Decodes a cursor; null for an invalid one. */
export function placeOfCursor(cursor: string): ReviewPlace | null {
  const [, updatedAt, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  return updatedAt === undefined || id === undefined ? null : { updatedAt: Number(updatedAt), id: Number(id) }
}

export interface ReviewedEntry extends ReviewPlace {
  readonly title: string | null
  /** `session`, or the kind that a model proposes. */
  readonly kind: string
  /** `session:<client>:<id>`; proposals are in the thread of their session. `learn:<from>` for those of a program. */
  readonly threadId: string
  /** The quote from the session that supports a proposal. */
  readonly quote: string | null
  /** Where a program read it: `AGENTS.md:12-20`, or `commit 3f2c9a1`. */
  readonly sources: readonly string[]
  /** Who can read it once it is approved; null if approval changes no reader. */
  readonly approvedAudience: string | null
  readonly project: string | null
  readonly branch: string | null
  readonly client: string | null
  readonly expiresAt: Millis | null
  readonly version: number
  /** The start of its text. */
  readonly preview: string
}

/**
 * The action of a review, encoded in the `change_id` that `keep`, `merge` and `drop` return and `undo` accepts (capture
 * contract §5).
 */
export type Reviewed =
  /** The entry with its version before the action. */
  | { readonly did: 'keep'; readonly id: number; readonly version: number }
  /** Entries approved together, with their versions before the action. */
  | { readonly did: 'keep_all'; readonly kept: readonly (readonly [id: number, version: number])[] }
  /** The new entry with its version, and the call that deleted its sources. */
  | {
      readonly did: 'merge'
      readonly id: number
      readonly version: number
      readonly dropped: string
      readonly sources: number
    }
  | { readonly did: 'drop'; readonly dropped: string }

/** Maximum count of waiting sessions. */
export const MOST_WAITING = 100

/** Maximum number of entries that one call approves, merges or deletes. */
export const MAX_REVIEWED = 20

const CHANGE_ID = /^[\w-]{1,64}$/
const isId = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0

const isKept = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(isId)

/** Encodes an action. The value is opaque to callers; `undo` checks the caller's permissions again. */
export const toChangeId = (reviewed: Reviewed): string => btoa(JSON.stringify(reviewed)).replaceAll('=', '')

/** Decodes an action. @throws Problem invalid_input for an invalid ID */
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
  throw invalidInput('change_id must be a value that keep, merge or drop returned')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(atob(text))
  } catch {
    return null
  }
}

/** An entry that addresses an agent, listed for approval by a person. */
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

/** Returns the source of a proposal that a program read, such as `github.com/acme/ferry`; null for other entries. */
export const learnedFrom = ({ threadId }: Pick<ReviewedEntry, 'threadId'>): string | null =>
  threadId.startsWith('learn:') ? threadId.slice('learn:'.length) : null

/** Minimum fraction of common words of two sessions that are grouped. */
const SIMILAR = 0.6
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_.\-/]+/gu
/** The line with client and location, which all sessions of a project share. */
const FIRST_LINE = /^[^\n]*\n+/

/** Returns the preview of a session without its line with client and location. */
export const withoutPlace = (preview: string): string => preview.replace(FIRST_LINE, '')

type Compared = Pick<ReviewedEntry, 'title' | 'project' | 'preview'>

const wordsOf = ({ title, preview }: Compared): ReadonlySet<string> =>
  new Set(`${title ?? ''}\n${withoutPlace(preview)}`.toLowerCase().match(WORD) ?? [])

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length
  const all = a.size + b.size - shared
  return all === 0 ? 0 : shared / all
}

/**
 * Groups similar sessions of one project, each group at the position of its first session. A session joins the first
 * group whose first session has at least 60 % of words in common with it.
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
