import { type SQL, sql } from 'drizzle-orm'
import type { StoreStatistics } from '../../../domain/report'
import { FALSE, TRUE } from '../compile-filter'
import type { Row } from '../connection'
import { liveThreads, type ReadContext } from '../entries/read-statements'
import { circle, expired, listed, readable } from '../visibility'

/**
 * The ids `gone` of entries that the counters still count, though nobody sees them any more: expired, or leaving. They are few:
 * the schedule and the calls that delete remove them.
 */
const gone = ({ dialect, scope, now }: Omit<ReadContext, 'indexedFields'>): SQL => sql`gone AS MATERIALIZED (
    SELECT x.id FROM entries x
    WHERE x.org = ${scope.org} AND ${expired(now, 'x')} AND x.listed = 1 AND ${circle(dialect, scope, 'x')}
    UNION
    SELECT x.id FROM leaving l ${dialect.follow('entries', 'x', sql`x.id = l.entry_id`)}
    WHERE l.org = ${scope.org} AND x.listed = 1 AND ${circle(dialect, scope, 'x')}
  )`

/** How many entries have vectors of a model, how many vectors those are, and their bytes: one row. */
export function vectorCountsStatement(context: Omit<ReadContext, 'indexedFields'>, model: string): SQL {
  const { dialect, scope } = context
  return sql`WITH ${gone(context)}
    SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(vectors), 0) AS vectors, coalesce(sum(bytes), 0) AS bytes
    FROM (
      SELECT c.entries, c.vectors, c.bytes FROM vector_counters c
      WHERE c.org = ${scope.org} AND c.model = ${model} AND ${circle(dialect, scope, 'c', 'empty')}
      UNION ALL
      SELECT CASE WHEN v.chunk = 0 THEN -1 ELSE 0 END, -1, -octet_length(v.data)
      FROM gone ${dialect.follow('entry_vectors', 'v', sql`v.entry_id = gone.id`)} WHERE v.model = ${model}
    ) counted`
}

/**
 * What get_statistics counts, as one batch; the results come back in the same order. It reads counters, one row a circle of readers,
 * a thread and a tag, and of entries only those with images.
 */
export function statisticsStatements(context: ReadContext): SQL[] {
  const { dialect, scope, now } = context
  const visible = listed(dialect, scope, now)
  const counted = circle(dialect, scope, 'c', 'empty')
  // Work for an entry is counted for those who can read it; work for the org as a whole, for keys of the whole org.
  const ownWork = sql`CASE WHEN o.topic IN ('embed', 'summarize') THEN EXISTS (SELECT 1 FROM entries e
    WHERE e.id = CAST(o.key AS BIGINT) AND ${readable(dialect, scope, now)})
    ELSE ${scope.projects === null ? TRUE : FALSE} END`
  return [
    sql`WITH ${gone(context)}
      SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(user_entries), 0) AS user_entries,
        coalesce(sum(multimodal), 0) AS multimodal, coalesce(sum(bytes), 0) AS bytes, coalesce(sum(images), 0) AS images,
        coalesce(sum(summaries), 0) AS summaries
      FROM (
        SELECT c.entries, c.user_entries, c.multimodal, c.bytes, c.images, c.summaries FROM circle_counters c
        WHERE c.org = ${scope.org} AND ${counted}
        UNION ALL
        SELECT -1, CASE WHEN e.source = 'user' THEN -1 ELSE 0 END, CASE WHEN e.image_count > 0 THEN -1 ELSE 0 END, -e.bytes,
          -e.image_count, CASE WHEN e.summary <> '' THEN -1 ELSE 0 END
        FROM gone ${dialect.follow('entries', 'e', sql`e.id = gone.id`)}
      ) counted`,
    sql`WITH ${liveThreads(context)}
      SELECT thread_id, entries, count(*) OVER () AS threads FROM live ORDER BY entries DESC, thread_id LIMIT 5`,
    sql`SELECT coalesce(sum(size), 0) AS bytes
      FROM (SELECT u.hash, max(u.size) AS size FROM image_uses u
      ${dialect.follow('entries', 'e', sql`e.id = u.entry_id`)}
      WHERE u.org = ${scope.org} AND ${visible} GROUP BY u.hash) used`,
    sql`WITH ${gone(context)}, used AS (
        SELECT tag, sum(uses) AS uses FROM (
          SELECT c.tag, c.uses FROM tag_counters c WHERE c.org = ${scope.org} AND ${counted}
          UNION ALL
          SELECT t.tag, -1 FROM gone ${dialect.follow('entry_tags', 't', sql`t.entry_id = gone.id`)}
        ) counted GROUP BY tag
      )
      SELECT tag, uses, count(*) OVER () AS tags FROM used WHERE uses > 0 ORDER BY uses DESC, tag LIMIT 10`,
    sql`SELECT count(*) AS unindexed
      FROM outbox o ${dialect.follow('entries', 'e', sql`e.id = CAST(o.key AS BIGINT)`)}
      WHERE o.org = ${scope.org} AND o.topic = 'index' AND ${visible}`,
    sql`SELECT coalesce(sum(c.versions), 0) AS versions, coalesce(sum(c.bytes), 0) AS bytes FROM version_counters c
      WHERE c.org = ${scope.org} AND ${counted}`,
    sql`SELECT count(*) AS pending, coalesce(sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), 0) AS failed,
      min(created_at) AS oldest FROM outbox o
      WHERE o.org = ${scope.org} AND ${ownWork}`,
  ]
}

export function toStatistics(results: readonly Row[][]): StoreStatistics {
  const first = (i: number): Row => results[i]?.[0] ?? {}
  const number = (value: unknown): number => Number(value ?? 0)
  const [totals, kept, work] = [first(0), first(5), first(6)]
  return {
    entries: number(totals.entries),
    bySource: {
      user: number(totals.user_entries),
      agent: number(totals.entries) - number(totals.user_entries),
    },
    multimodal: number(totals.multimodal),
    threads: number(first(1).threads),
    entryBytes: number(totals.bytes),
    activeThreads: (results[1] ?? []).map((row) => ({ threadId: row.thread_id as string, count: number(row.entries) })),
    images: number(totals.images),
    imageBytes: number(first(2).bytes),
    uniqueTags: number(first(3).tags),
    topTags: (results[3] ?? []).map((row) => ({ tag: row.tag as string, count: number(row.uses) })),
    summaries: number(totals.summaries),
    indexedEntries: number(totals.entries) - number(first(4).unindexed),
    kept: { versions: number(kept.versions), bytes: number(kept.bytes) },
    work: {
      pending: number(work.pending) - number(work.failed),
      failed: number(work.failed),
      oldestAt: work.oldest === null || work.oldest === undefined ? null : Number(work.oldest),
    },
  }
}
