/**
 * Cost of work in SQLite, and the maximum for one statement, since the database serves no other request meanwhile (platform contract §6).
 * The unit is a byte of postings that FTS5 reads. `domain/search/filter-weight.ts` estimates a filter. Measured:
 * docs/decisions/006-work-in-parts.md.
 */
export const COST = {
  /** An entry with a word, in addition to its postings: it is read, scored and sorted. */
  found: 128,
  /** Cost of an entry, and of a byte of its metadata, for a filter of weight 1. */
  filtered: 400,
  metadata: 0.8,
} as const

/** Postings of a text or an entry, in bytes. */
export const POSTINGS = {
  /** Maximum for a byte of text: a word of two bytes, in two columns. */
  most: 1,
  /** Minimum for an entry with a word: its number, and the positions of the word in two columns. */
  least: 6,
} as const

/** Limits of one search. */
export const SEARCH_BOUND = {
  /** Maximum bytes of postings of all its queries: well below the time that a statement may take. */
  once: 192_000_000,
  /** Entries of all organizations up to which reading a word is so fast that checking first saves nothing. */
  short: 20_000,
} as const
export type SearchBound = { readonly [Name in keyof typeof SEARCH_BOUND]: number }

/** Entries that a statement may read for a filter of weight 1, and bytes of metadata that it may parse. */
export const FILTERED_AT_ONCE = { entries: 20_000, metadata: 16_000_000 } as const
