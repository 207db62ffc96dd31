/**
 * What work costs SQLite, and how much of it one statement may do, since it serves nobody else meanwhile (platform contract §6). One unit
 * for all of it: bytes of postings that FTS5 goes through, 200 to 640 of them in a microsecond. What a filter costs an entry is reckoned by
 * `domain/search/filter-weight.ts`; its weight 1 is two microseconds, or 400 bytes. Measured: docs/decisions/006-work-in-parts.md.
 */
export const COST = {
  /** Each entry with a word, beside its postings: it is looked up, weighed and put in order. */
  found: 128,
  /** An entry, and a byte of its metadata, under a filter of weight 1. */
  filtered: 400,
  metadata: 0.8,
} as const

/** Of a text, or of an entry, in bytes of postings. */
export const POSTINGS = {
  /** A byte of text has no more: a word in two bytes, in two columns. */
  most: 1,
  /** An entry with a word has at least its number, and where the word stands in two columns. */
  least: 6,
} as const

/** What one statement may go through; where nothing else is said, in bytes of postings. */
export const SHARES = {
  /**
   * All that a search asks for, 300 ms of work at most of the 500 that a statement may take; a search of more is done in parts, which takes
   * three to ten times as long.
   */
  once: 192_000_000,
  /** The words of a part of a search, 30 to 150 ms of work. */
  part: 32_000_000,
  /** Entries of such a part, whatever their size. */
  entries: 8_000,
  /** A phrase, which cannot be asked for in parts. */
  phrase: 64_000_000,
  /** Words by their beginning, whose postings FTS5 merges before it begins, so that each takes some times as long. */
  beginning: 72_000_000,
  /** Entries of all orgs up to which words are gone through in about a millisecond, so that it is not asked before whether that helps. */
  short: 20_000,
  /** Entries that a filter goes through, 30 to 60 ms of work where they are short. */
  filtered: 8_000_000,
  /** Metadata that it parses: about 60 ms, too. */
  metadata: 12_800_000,
} as const
export type Shares = { readonly [Name in keyof typeof SHARES]: number }

/** Entries that a statement may go through for a filter of weight 1, and bytes of metadata that it may parse. */
export const FILTERED_AT_ONCE = {
  entries: SHARES.filtered / COST.filtered,
  metadata: SHARES.metadata / COST.metadata,
} as const
