/** Which part of an ordering a call asks for, and how ranked searches cut theirs (threads contract §1, §8). */
export const MAX_LIMIT = 100
export const MAX_OFFSET = 1_000_000

/** A ranked search orders at most this many entries a query, the same for every page. */
export const RANK_DEPTH = 100

/** A result is sent twice, as structure and as text, from a Worker of 128 MB (platform contract §6). */
export const RESULT_BYTES = 8_000_000

/** A page of previews has no more metadata, images, tags and summaries; entries beyond are listed as omitted. */
export const PAGE_METADATA_BYTES = 1_000_000

export interface Window {
  readonly limit: number
  readonly offset: number
}

/** A limit as asked for, and as applied when that was above the cap. */
interface Clamped {
  readonly limit: number
  readonly clamped: { readonly requested: number; readonly applied: number } | null
}

export const clampLimit = (requested: number): Clamped =>
  requested > MAX_LIMIT
    ? { limit: MAX_LIMIT, clamped: { requested, applied: MAX_LIMIT } }
    : { limit: requested, clamped: null }

export const reachesBeyondRankDepth = (window: Window): boolean => window.offset + window.limit > RANK_DEPTH
