import type { Entry } from '../entry/entry'
import { Problem } from '../errors'
import { DAY_MS, HOUR_MS, type Millis } from '../time'

/** Versions of entries (history contract §1, §3). */

/** The parts that a change may concern, in the order of the bits of `entry_versions.changed`. */
export const CHANGED_PARTS = ['text', 'metadata', 'tags', 'images', 'thread', 'kind', 'layer'] as const
type ChangedPart = (typeof CHANGED_PARTS)[number]

/** The parts that a mask of bits names. */
export const changedParts = (mask: number): ChangedPart[] => CHANGED_PARTS.filter((_, bit) => (mask >> bit) & 1)

export const VERSION_ACTIONS = ['stored', 'updated', 'deleted', 'restored'] as const
type VersionAction = (typeof VERSION_ACTIONS)[number]

/** One version of an entry, as a list of them tells it. */
export interface Version {
  readonly version: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly action: VersionAction
  readonly agent: string | null
  readonly keyId: string
  /** Against the version before; null when that is not kept, or not the reader's to see. */
  readonly changed: readonly ChangedPart[] | null
  /** The beginning of its text; empty for a deletion. */
  readonly preview: string
}

/** Code points of a version's preview. */
export const VERSION_PREVIEW = 160

type Standing = Omit<Entry, 'text'>

/** Who made the version that stands there; where nobody is known, who stored it. */
const makerOf = ({ changedAgent, changedBy, agent, createdBy }: Standing): string =>
  changedAgent ?? changedBy ?? agent ?? createdBy

/** Refuses to touch an entry that stands at another version than a caller has seen. */
export function versionConflict(
  now: { readonly id: number; readonly version: number; readonly at: number; readonly by: string },
  expected: number,
): Problem {
  const { id, version, by } = now
  const at = new Date(now.at).toISOString()
  return new Problem(
    'conflict',
    `Entry ${id} is at version ${version}, not ${expected} (changed by ${by}, ${at}). Read it and try again.`,
    {
      retryable: false,
      details: { context_id: id, expected_version: expected, current_version: version, updated_at: at, agent: by },
    },
  )
}

/** @throws Problem conflict unless the entry, after so many further changes of the same call, is at the expected version */
export function checkVersion(entry: Standing, expected: number | undefined, further = 0): void {
  const version = entry.version + further
  if (expected === undefined || expected === version) return
  throw versionConflict({ id: entry.id, version, at: entry.updatedAt, by: makerOf(entry) }, expected)
}

/** For how long what has been is kept. */
export interface HistoryTerms {
  /** Days that an old state of an entry can be read and brought back; 0: none is kept. */
  readonly days: number
  /** Hours in which a call made again with its key is answered as at first. */
  readonly receiptHours: number
}

/** Nothing is kept; receipts for a day. */
export const NO_HISTORY: HistoryTerms = { days: 0, receiptHours: 24 }

/** The instant up to which old states are forgotten, in milliseconds since 1970. */
export const oldestKept = ({ days }: HistoryTerms, now: Millis): Millis => now - days * DAY_MS

/** Until when what is deleted now can be brought back; null when it cannot. */
export const restorableUntil = ({ days }: HistoryTerms, now: Millis): Millis | null =>
  days === 0 ? null : now + days * DAY_MS

/** The instant up to which receipts are forgotten. */
export const oldestReceipt = ({ receiptHours }: HistoryTerms, now: Millis): Millis => now - receiptHours * HOUR_MS
