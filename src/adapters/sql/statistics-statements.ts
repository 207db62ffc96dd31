import { type SQL, sql } from 'drizzle-orm'
import type { StoreStatistics } from '../../domain/report'
import { FALSE, TRUE } from './compile-filter'
import type { Row } from './connection'
import { liveThreads, type ReadContext } from './read-statements'
import { circle, listed, readable } from './visibility'

/** What get_statistics counts, as one batch; the results come back in the same order. */
export function statisticsStatements(context: ReadContext): SQL[] {
  const { dialect, scope, now } = context
  const live = liveThreads(context)
  const visible = listed(dialect, scope, now)
  // Work for an entry is counted for those who can read it; work for the org as a whole, for keys of the whole org.
  const ownWork = sql`CASE WHEN o.topic IN ('embed', 'summarize') THEN EXISTS (SELECT 1 FROM entries e
    WHERE e.id = CAST(o.key AS BIGINT) AND ${readable(dialect, scope, now)})
    ELSE ${scope.projects === null ? TRUE : FALSE} END`
  return [
    sql`WITH ${live}
      SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(user_entries), 0) AS user_entries,
      coalesce(sum(multimodal), 0) AS multimodal, coalesce(sum(bytes), 0) AS bytes, count(*) AS threads FROM live`,
    sql`WITH ${live} SELECT thread_id, entries FROM live ORDER BY entries DESC, thread_id LIMIT 5`,
    sql`SELECT coalesce(sum(e.image_count), 0) AS images FROM entries e WHERE e.image_count > 0 AND ${visible}`,
    sql`SELECT coalesce(sum(size), 0) AS bytes
      FROM (SELECT u.hash, max(u.size) AS size FROM image_uses u
      JOIN entries e ON e.id = u.entry_id
      WHERE u.org = ${scope.org} AND ${visible} GROUP BY u.hash) used`,
    sql`SELECT t.tag, count(*) AS uses, count(*) OVER () AS tags FROM entry_tags t
      JOIN entries e ON e.id = t.entry_id
      WHERE t.org = ${scope.org} AND ${visible} GROUP BY t.tag ORDER BY uses DESC, t.tag LIMIT 10`,
    sql`SELECT count(*) AS summaries FROM entries e WHERE e.summary <> '' AND ${visible}`,
    dialect.countIndexed(scope, visible),
    sql`SELECT coalesce(sum(c.versions), 0) AS versions, coalesce(sum(c.bytes), 0) AS bytes FROM version_counters c
      WHERE c.org = ${scope.org} AND ${circle(dialect, scope, 'c', 'empty')}`,
    sql`SELECT count(*) AS pending, coalesce(sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), 0) AS failed,
      min(created_at) AS oldest FROM outbox o
      WHERE o.org = ${scope.org} AND ${ownWork}`,
  ]
}

export function toStatistics(results: readonly Row[][]): StoreStatistics {
  const first = (i: number): Row => results[i]?.[0] ?? {}
  const number = (value: unknown): number => Number(value ?? 0)
  const [totals, kept, work] = [first(0), first(7), first(8)]
  return {
    entries: number(totals.entries),
    bySource: {
      user: number(totals.user_entries),
      agent: number(totals.entries) - number(totals.user_entries),
    },
    multimodal: number(totals.multimodal),
    threads: number(totals.threads),
    entryBytes: number(totals.bytes),
    activeThreads: (results[1] ?? []).map((row) => ({ threadId: row.thread_id as string, count: number(row.entries) })),
    images: number(first(2).images),
    imageBytes: number(first(3).bytes),
    uniqueTags: number(first(4).tags),
    topTags: (results[4] ?? []).map((row) => ({ tag: row.tag as string, count: number(row.uses) })),
    summaries: number(first(5).summaries),
    indexedEntries: number(first(6).indexed),
    kept: { versions: number(kept.versions), bytes: number(kept.bytes) },
    work: {
      pending: number(work.pending) - number(work.failed),
      failed: number(work.failed),
      oldestAt: work.oldest === null || work.oldest === undefined ? null : Number(work.oldest),
    },
  }
}
