import { type SQL, sql } from 'drizzle-orm'

/** Sizes within the index of words, read from FTS5's own tables, so that no posting is read. */

/** FTS5 stores terms behind this letter. */
const MAIN_INDEX = '0'
/** Bytes of a leaf page of the index. */
const LEAF_PAGE = 4050

/** Ids of the leaf pages of a segment lie together. */
const leafPageIds = (segment: SQL): SQL => sql`BETWEEN ${segment} << 37 AND (${segment} << 37) + 2147483647`
/** Number of the last leaf page of a segment. */
export const lastLeafPage = (segment: SQL): SQL =>
  sql`(SELECT max(d.id) & 2147483647 FROM entries_fts_data d WHERE d.id ${leafPageIds(segment)})`

/** How many leaf pages a segment has; the first ones of a segment that is just merged are gone. */
export const leafPagesOf = (segment: SQL): SQL =>
  sql`(${lastLeafPage(segment)} - (SELECT min(d.id) & 2147483647 FROM entries_fts_data d WHERE d.id ${leafPageIds(segment)}) + 1)`

/**
 * Bytes of postings of a word in the whole index, as far as its leaf pages tell, which is some thousands for each of its segments:
 * FTS5 notes with which term its leaf pages begin (`_idx`), so that nothing is read of the postings themselves.
 */
export const postingsOf = (word: SQL, prefix: SQL): SQL => {
  const from = sql`CAST(${sql.raw(`'${MAIN_INDEX}'`)} || ${word} AS BLOB)`
  const to = sql`CASE WHEN ${prefix} THEN CAST(${from} || x'ff' AS BLOB) ELSE ${from} END`
  return sql`(
    SELECT coalesce(sum(max(
        coalesce(
          (SELECT i.pgno / 2 FROM entries_fts_idx i WHERE i.segid = segments.id AND i.term > ${to} ORDER BY i.term LIMIT 1),
          ${lastLeafPage(sql`segments.id`)}
        ) - coalesce(
          (SELECT i.pgno / 2 FROM entries_fts_idx i WHERE i.segid = segments.id AND i.term <= ${from} ORDER BY i.term DESC LIMIT 1), 0
        ), 0)), 0) * ${sql.raw(String(LEAF_PAGE))}
    FROM segments
  )`
}

/** Their numbers, and one row more without one. */
export const SEGMENTS = sql`segments (id) AS (
  SELECT min(segid) FROM entries_fts_idx
  UNION ALL SELECT (SELECT min(segid) FROM entries_fts_idx WHERE segid > segments.id) FROM segments WHERE segments.id IS NOT NULL
)`
