/**
 * What work costs SQLite, and how much of it one statement may do, since the database serves no other request meanwhile
 * (platform contract §6). One unit for all of it: bytes of postings that FTS5 reads, 200 to 640 of them in a microsecond.
 * `domain/search/filter-weight.ts` estimates a filter; its weight 1 is two microseconds, or 400 bytes.
 * Measured: docs/decisions/006-work-in-parts.md.
 */
export const COST = {
  /** An entry with a word, in addition to its postings: it is read, weighed and sorted. */
  found: 128,
  /** An entry, and a byte of its metadata, under a filter of weight 1. */
  filtered: 400,
  metadata: 0.8,
} as const

/** Postings of a text, or of an entry, in bytes. */
export const POSTINGS = {
  /** A byte of text has at most this: a word of two bytes, in two columns. */
  most: 1,
  /** An entry with a word has at least its number, and the places of the word in two columns. */
  least: 6,
} as const

/** The work of one search. */
export const SEARCH_BOUND = {
  /** All that it asks for, in bytes of postings: 300 ms at most, of the 500 that a statement may take. */
  once: 192_000_000,
  /** Entries of all organizations up to which a word is read in about a millisecond, so that checking first saves nothing. */
  short: 20_000,
} as const
export type SearchBound = { readonly [Name in keyof typeof SEARCH_BOUND]: number }

/** Entries that a statement may read for a filter of weight 1, and bytes of metadata that it may parse: 30 to 60 ms each. */
export const FILTERED_AT_ONCE = { entries: 20_000, metadata: 16_000_000 } as const
