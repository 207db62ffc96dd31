/** Limits of pages and of ranked searches (threads contract §1, §8). */
export const MAX_LIMIT = 100
export const MAX_OFFSET = 1_000_000

/** Maximum number of entries that a ranked search orders, the same for every page. */
export const RANK_DEPTH = 100

/**
 * Maximum size of a result. It is sent twice, as structured content and as text, by a Worker of 128 MB (platform
 * contract §6).
 */
export const RESULT_BYTES = 8_000_000

/**
 * Maximum bytes of metadata, images, tags and summaries on a page of previews; further entries are listed as omitted.
 */
export const PAGE_METADATA_BYTES = 1_000_000

export interface Window {
  readonly limit: number
  readonly offset: number
}

/** A requested limit, and the applied one if it was above the maximum. */
interface Clamped {
  readonly limit: number
  readonly clamped: { readonly requested: number; readonly applied: number } | null
}

export const clampLimit = (requested: number): Clamped =>
  requested > MAX_LIMIT
    ? { limit: MAX_LIMIT, clamped: { requested, applied: MAX_LIMIT } }
    : { limit: requested, clamped: null }

export const reachesBeyondRankDepth = (window: Window): boolean => window.offset + window.limit > RANK_DEPTH
