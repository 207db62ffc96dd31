import type { Generated } from '../../../domain/entry/entry'
import type { SavedBefore } from '../../../domain/receipts/receipt'
import { done, type Outcome } from '../../outcome'

/** What became of a draft that was stored, as it is told at once and to a call made again. */

export interface StoredEntry {
  readonly id: number
  readonly threadId: string
  readonly version: number
  readonly isNew: boolean
  readonly images: number
  readonly evicted: readonly number[]
  /** What models made of it: what happened, as messages say it. */
  readonly made: readonly Made[]
  readonly warnings: readonly string[]
}

export type Made =
  | 'embedding generated'
  | 'embedding queued'
  | 'summary generated'
  | 'summary preserved'
  | 'summary queued'

/** What a caller is told of entries whose vectors were not made in time. */
export const VECTORS_LATER =
  'The embedding model has not made all vectors yet: this is found by its words now, and by its meaning as soon as they are made'

/** What was made and what is still to be made, embedding first; vectors that could not be written are made again. */
export function madeOf({ vectors, summary, queued }: Generated, written: boolean): Made[] {
  return [
    ...(vectors === null || !written ? [] : (['embedding generated'] as const)),
    ...(queued.includes('embed') || (vectors !== null && !written) ? (['embedding queued'] as const) : []),
    ...(summary === '' ? [] : (['summary generated'] as const)),
    ...(queued.includes('summarize') ? (['summary queued'] as const) : []),
  ]
}

/** What is known of an entry before it is saved, noted for the answer and told once it is. */
export interface Planned {
  readonly threadId: string
  readonly images: number
  /** If it is new. */
  readonly made: readonly Made[]
  readonly warnings: readonly string[]
}

/**
 * What became of the drafts of a call.
 *
 * @param planned what was noted of each before the write
 * @param saved the rows of the good ones, in order
 */
export function storedAs(planned: readonly Outcome<Planned>[], saved: readonly SavedBefore[]): Outcome<StoredEntry>[] {
  const rows = saved.values()
  return planned.map((outcome) => {
    if (!outcome.ok) return outcome
    const row = rows.next().value
    if (row === undefined) throw new Error('fewer entries were saved than planned')
    const { id, version, isNew, summarized, evicted } = row
    const { threadId, images, made, warnings = [] } = outcome.value
    const happened = isNew ? made : summarized ? (['summary preserved'] as const) : []
    return done({ id, version, isNew, threadId, images, evicted, made: happened, warnings })
  })
}
