import { type SQL, sql } from 'drizzle-orm'

/**
 * Both trees are walked in step, from member to member of one name: every value of one has its equal in the other. (Comparing them by the
 * paths of their values would take time by the square of their depth.) SQLite finds members by indexes of its own making only where
 * nothing names a row of the statement around; else a list would be compared in time by the square of its length.
 */
const saySame = (id: SQL, given: (was: SQL) => SQL): SQL => sql`(
  WITH RECURSIVE standing AS (SELECT metadata FROM entries WHERE id = ${id}),
    both_texts AS MATERIALIZED (SELECT metadata AS was, ${given(sql`standing.metadata`)} AS given FROM standing),
    one AS MATERIALIZED (SELECT t.id, t.parent, t.key, t.type, t.atom FROM both_texts CROSS JOIN json_tree(both_texts.was) t),
    other AS MATERIALIZED (SELECT t.id, t.parent, t.key, t.type, t.atom FROM both_texts CROSS JOIN json_tree(both_texts.given) t),
    pairs (one_id, other_id) AS (
      SELECT one.id, other.id FROM one, other WHERE one.parent IS NULL AND other.parent IS NULL AND one.type = other.type
      UNION ALL
      SELECT one.id, other.id FROM pairs
        CROSS JOIN one ON one.parent = pairs.one_id
        CROSS JOIN other ON other.parent = pairs.other_id AND other.key = one.key AND other.type = one.type AND other.atom IS one.atom
    )
  SELECT (SELECT count(*) FROM pairs) = (SELECT count(*) FROM one)
)`

/** Nobody writes more JSON text for the same, so that texts of different lengths say different things, and no trees are made of them. */
export const asWritten = (id: SQL, given: (was: SQL) => SQL): SQL => sql`(
  SELECT CASE WHEN both_texts.was <> both_texts.given AND length(both_texts.was) = length(both_texts.given) AND ${saySame(id, given)}
    THEN both_texts.was ELSE both_texts.given END
  FROM (SELECT entries.metadata AS was, ${given(sql`entries.metadata`)} AS given) AS both_texts
)`
