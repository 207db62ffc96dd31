import { type SQL, sql } from 'drizzle-orm'

/**
 * Both trees are walked in step, from member to member of one name: every value of one has its equal in the other. (Comparing them by the
 * paths of their values would take time by the square of their depth.) Nobody writes more JSON text for the same, so that texts of
 * different lengths say different things.
 */
export const asWritten = (was: SQL, given: SQL): SQL => sql`(
  SELECT CASE WHEN both_texts.was <> both_texts.given AND length(both_texts.was) = length(both_texts.given) AND (
    WITH RECURSIVE one AS MATERIALIZED (SELECT id, parent, key, type, atom FROM json_tree(both_texts.was)),
      other AS MATERIALIZED (SELECT id, parent, key, type, atom FROM json_tree(both_texts.given)),
      pairs (one_id, other_id) AS (
        SELECT one.id, other.id FROM one, other WHERE one.parent IS NULL AND other.parent IS NULL AND one.type = other.type
        UNION ALL
        SELECT one.id, other.id FROM pairs
          CROSS JOIN one ON one.parent = pairs.one_id
          CROSS JOIN other ON other.parent = pairs.other_id AND other.key = one.key AND other.type = one.type AND other.atom IS one.atom
      )
    SELECT (SELECT count(*) FROM pairs) = (SELECT count(*) FROM one)
  ) THEN both_texts.was ELSE both_texts.given END
  FROM (SELECT ${was} AS was, ${given} AS given) AS both_texts
)`
