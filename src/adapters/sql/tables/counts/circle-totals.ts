import { type SQL, sql } from 'drizzle-orm'
import { circle, expired } from '../../core/visibility'
import type { ReadContext } from '../entries/read-statements'

/** What a scope sees in all threads, from one counter a circle of readers. */

/**
 * The ids `gone` of entries that the counters still count, though nobody sees them any more: expired, or leaving. They are few:
 * the schedule and the calls that delete remove them.
 */
export const gone = ({ dialect, scope, now }: Omit<ReadContext, 'indexedFields'>): SQL => sql`gone AS MATERIALIZED (
    SELECT x.id FROM entries x
    WHERE x.org = ${scope.org} AND ${expired(now, 'x')} AND x.listed = 1 AND ${circle(dialect, scope, 'x')}
    UNION
    SELECT x.id FROM pending_deletes l ${dialect.plan.follow('entries', 'x', sql`x.id = l.entry_id`)}
    WHERE l.org = ${scope.org} AND x.listed = 1 AND ${circle(dialect, scope, 'x')}
  )`

/** A statement of one number: entries of a scope as counters have them, with those that are `gone`. */
export const entriesCounted = ({ dialect, scope }: Pick<ReadContext, 'dialect' | 'scope'>): SQL => sql`
  SELECT coalesce(sum(c.entries), 0) FROM entry_counters c
  WHERE c.org = ${scope.org} AND c.listed = 1 AND ${circle(dialect, scope, 'c', 'empty')}`

/** A statement of one row: `entries`, `user_entries`, `multimodal`, `bytes`, `images` and `summaries`. */
export const circleTotals = (context: Omit<ReadContext, 'indexedFields'>): SQL => {
  const { dialect, scope } = context
  return sql`WITH ${gone(context)}
    SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(user_entries), 0) AS user_entries,
      coalesce(sum(multimodal), 0) AS multimodal, coalesce(sum(bytes), 0) AS bytes, coalesce(sum(images), 0) AS images,
      coalesce(sum(summaries), 0) AS summaries
    FROM (
      SELECT c.entries, c.user_entries, c.multimodal, c.bytes, c.images, c.summaries FROM entry_counters c
      WHERE c.org = ${scope.org} AND c.listed = 1 AND ${circle(dialect, scope, 'c', 'empty')}
      UNION ALL
      SELECT -1, CASE WHEN e.source = 'user' THEN -1 ELSE 0 END, CASE WHEN e.image_count > 0 THEN -1 ELSE 0 END, -e.bytes,
        -e.image_count, CASE WHEN e.summary <> '' THEN -1 ELSE 0 END
      FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)}
    ) counted`
}
