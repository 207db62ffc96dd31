// How does the index of words stay in few segments? Each commit adds one, FTS5 merges four of a size by itself, and a search seeks each of
// its words in every segment there is. The schedule merges as soon as there are two of a size (`usermerge`, 0001_initial.sql).
import { type SQL, sql } from 'drizzle-orm'
import type { IndexMerge } from '../sql/core/dialect'
import { lastLeafPage, leafPagesOf, SEGMENTS } from './postings'

/** Leaves that one merge writes: 4 to 7 ms of work. */
const PAGES = 64

/**
 * Where one merge may take longer than that, since FTS5 counts what it writes, and does so between two words only: it goes on to the end of
 * a word, and through entries that are gone without writing. So this much holds a step below 100 ms at its worst; larger indexes are merged
 * by writes alone. In leaves of 4,050 bytes.
 */
export const MERGED = {
  /** All of them: 58 ms to read 14,000 of which 97 % had been deleted. */
  all: 20_000,
  /** Those of the longest postings of one word, added up over all parts: 600 ms for 15,000, of 75 texts of a million letters. */
  spanned: 1_500,
} as const
export type Merged = { readonly [Name in keyof typeof MERGED]: number }

/**
 * The same where words are to leave the index for good: they stand there until every part that holds them is written anew. A step goes
 * through the whole index at once only where next to nothing of it is left, which takes 4 ms for a thousand leaves.
 */
const FORGOTTEN: Merged = { all: 60_000, spanned: 4_000 }

/** @param count pages, below 0 where all parts are to become one */
const merging = (count: number, fewest: number, most: Merged): SQL => sql`INSERT INTO entries_fts (entries_fts, rank)
    WITH RECURSIVE ${SEGMENTS}, begun (segid, page, gap) AS (
      SELECT segid, pgno / 2, pgno / 2 - lag(pgno / 2) OVER (PARTITION BY segid ORDER BY term) FROM entries_fts_idx
    ), spanned (leaves) AS (
      SELECT max(coalesce(max(gap), 0), ${lastLeafPage(sql`segid`)} - max(page)) FROM begun GROUP BY segid
    )
    SELECT 'merge', ${whole(count)} WHERE CASE WHEN
      (SELECT count(*) >= ${whole(fewest)} AND sum(${leafPagesOf(sql`segments.id`)}) <= ${whole(most.all)}
       FROM segments WHERE id IS NOT NULL)
      THEN (SELECT sum(leaves) <= ${whole(most.spanned)} FROM spanned) END`

/** The statements of one round; the structure record of FTS5 tells whether a merge did anything. */
export const mergeWords = (most: Merged = MERGED): IndexMerge => ({
  state: sql`SELECT hex(block) AS state FROM entries_fts_data WHERE id = 10`,
  merge: merging(PAGES, 2, most),
  forget: { begin: merging(-PAGES, 1, FORGOTTEN), goOn: merging(PAGES, 2, FORGOTTEN) },
})

const whole = (number: number): SQL => sql.raw(String(number))
