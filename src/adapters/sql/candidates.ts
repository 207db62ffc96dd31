import { sql } from 'drizzle-orm'
import type { Filter } from '../../domain/filter'
import type { TextHit } from '../../ports/full-text'
import type { Row } from './connection'

/** What both databases do alike when they choose the candidates of a search by words. */

/** The one thread that a filter admits, if it names one. */
export function threadOf(filter: Filter): string | null {
  if (filter.op === 'thread') return filter.is
  if (filter.op !== 'and') return null
  for (const part of filter.of) {
    const thread = threadOf(part)
    if (thread !== null) return thread
  }
  return null
}

/** How far a candidate's words count more where they stand among few: as the scorer has it, for a word said once. */
export const BREVITY = sql`(1 + 2.2 / (1.3 + e.text_words / 55.0))`

/** Entries with a term are counted up to here; beyond, the rest is estimated from how far the count came. */
export const COUNTED = 1000
/** Words of more entries than this are equally common when candidates are chosen. */
export const COMMON = 10_000

export interface TermCount {
  readonly counted: number
  /** The highest id among those counted; null when there was none. */
  readonly reached: number | null
}

/** The count of entries with a term; a count that stopped at the cap is stretched over the ids it did not reach. */
export function estimateEntries(
  { counted, reached }: TermCount,
  all: { readonly firstId: number; readonly lastId: number; readonly entries: number },
): number {
  if (counted < COUNTED || reached === null) return counted
  const span = reached - all.firstId + 1
  return Math.min(all.entries, Math.round((counted * (all.lastId - all.firstId + 1)) / Math.max(span, 1)))
}

export const toHit = (row: Row, complete: boolean): TextHit => ({
  id: Number(row.id),
  threadId: row.thread_id as string,
  text: row.text as string,
  context: row.context as string,
  length: Number(row.words),
  following: JSON.parse(row.following as string) as number[],
  complete,
})
