import type { Entry } from '../entry/entry'
import { Problem } from '../errors'
import { DAY_MS, HOUR_MS, type Millis } from '../time'

/** Versions of entries: their parts, conflicts and retention (history contract §1, §3). */

/** The parts of an entry that a change can affect, in the order of the bits of `entry_versions.changed`. */
export const CHANGED_PARTS = ['text', 'metadata', 'tags', 'images', 'thread', 'kind', 'layer'] as const
type ChangedPart = (typeof CHANGED_PARTS)[number]

/** The parts that a bit mask contains. */
export const changedParts = (mask: number): ChangedPart[] => CHANGED_PARTS.filter((_, bit) => (mask >> bit) & 1)

export const VERSION_ACTIONS = ['stored', 'updated', 'deleted', 'restored'] as const
type VersionAction = (typeof VERSION_ACTIONS)[number]

/** One version of an entry, as it is listed. */
export interface Version {
  readonly version: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly action: VersionAction
  readonly agent: string | null
  readonly keyId: string
  /** Parts that differ from the version before; null when that is not retained or not visible to the reader. */
  readonly changed: readonly ChangedPart[] | null
  /** The start of its text; empty for a deletion. */
  readonly preview: string
}

/** Code points of a version's preview. */
export const VERSION_PREVIEW = 160

type Standing = Omit<Entry, 'text'>

/** The agent or key that wrote the current version; if unknown, the one that stored the entry. */
const makerOf = ({ changedAgent, changedBy, agent, createdBy }: Standing): string =>
  changedAgent ?? changedBy ?? agent ?? createdBy

/** The error for an entry whose version is not the expected one. */
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

/**
 * Checks the version of an entry after `further` changes of the same call. @throws Problem conflict unless it is the
 * expected one
 */
export function checkVersion(entry: Standing, expected: number | undefined, further = 0): void {
  const version = entry.version + further
  if (expected === undefined || expected === version) return
  throw versionConflict({ id: entry.id, version, at: entry.updatedAt, by: makerOf(entry) }, expected)
}

/** Retention of history and receipts. */
export interface HistoryTerms {
  /** Days for which an old version can be read and restored; 0 disables history. */
  readonly days: number
  /** Hours for which a call with the same idempotency key gets the same answer. */
  readonly receiptHours: number
}

/** Disables history; receipts are retained for a day. */
export const NO_HISTORY: HistoryTerms = { days: 0, receiptHours: 24 }

/** The time up to which old versions are deleted, in milliseconds since 1970. */
export const historyCutoff = ({ days }: HistoryTerms, now: Millis): Millis => now - days * DAY_MS

/** The time until which an entry deleted now can be restored; null when it cannot. */
export const restorableUntil = ({ days }: HistoryTerms, now: Millis): Millis | null =>
  days === 0 ? null : now + days * DAY_MS

/** The time up to which receipts are deleted. */
export const receiptCutoff = ({ receiptHours }: HistoryTerms, now: Millis): Millis => now - receiptHours * HOUR_MS
