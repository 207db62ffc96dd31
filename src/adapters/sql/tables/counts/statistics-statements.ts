import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import type { StoreStatistics } from '../../../../domain/report'
import { compareCodePoints } from '../../../../domain/text'
import { FALSE, TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { circle, listed, visible } from '../../core/visibility'
import { liveThreads, type ReadContext } from '../entries/read-statements'
import { circleTotals, gone } from './circle-totals'
import { type Groups, groupsOf, groupsStatement } from './groups-in-parts'
import { imageBytes, imageBytesStatement } from './image-bytes'

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

/** Threads that are named, and tags. */
const [ACTIVE, TOP] = [5, 10]

/** Threads with the most entries. */
const activeThreads = (context: ReadContext): Groups => ({
  table: 'thread_counters',
  name: 'thread_id',
  of: (between) => ({
    tables: [liveThreads(context, between)],
    query: sql`SELECT thread_id, entries FROM live`,
  }),
  columns: ['thread_id', 'entries'],
  order: sql`entries DESC, thread_id`,
  compare: byNumber('entries', 'thread_id'),
})

/** Tags that most entries have. */
const usedTags = (context: ReadContext): Groups => ({
  table: 'tag_counters',
  name: 'tag',
  of: (between) => {
    const { dialect, scope } = context
    const of = (column: string) => (between === undefined ? sql`` : sql` AND ${between(sql.raw(column))}`)
    return {
      tables: [gone(context)],
      query: sql`SELECT tag, sum(uses) AS uses FROM (
          SELECT c.tag, c.uses FROM tag_counters c WHERE c.org = ${scope.org} AND ${circle(dialect, scope, 'c', 'empty')}${of('c.tag')}
          UNION ALL
          SELECT t.tag, -1 FROM gone ${dialect.follow('entry_tags', 't', sql`t.entry_id = gone.id`)} WHERE 1 = 1${of('t.tag')}
        ) counted GROUP BY tag HAVING sum(uses) > 0`,
    }
  },
  columns: ['tag', 'uses'],
  order: sql`uses DESC, tag`,
  compare: byNumber('uses', 'tag'),
})

/** The most first, then by name as databases order it: by code points. */
function byNumber(number: string, name: string): Groups['compare'] {
  return (a, b) => Number(b[number]) - Number(a[number]) || compareCodePoints(a[name] as string, b[name] as string)
}

/**
 * What get_statistics counts, as one batch; the results come back in the same order. It reads counters, one row a circle of readers,
 * a thread and a tag, and of entries only those with images; where there are too many threads, tags or images for a statement, those are
 * left to be gone through in parts (`countMany`).
 */
export function statisticsStatements(context: ReadContext): SQL[] {
  const { dialect, scope, now } = context
  const shown = listed(dialect, scope, now)
  const counted = circle(dialect, scope, 'c', 'empty')
  // Work for an entry is counted for those who can read it; work for the org as a whole, for keys of the whole org.
  const ownWork = sql`CASE WHEN o.topic IN ('embed', 'summarize') THEN EXISTS (SELECT 1 FROM entries e
    WHERE e.id = CAST(o.key AS BIGINT) AND ${visible(dialect, scope, now)})
    ELSE ${scope.projects === null ? TRUE : FALSE} END`
  return [
    circleTotals(context),
    groupsStatement(context, activeThreads(context), ACTIVE),
    imageBytesStatement(context),
    groupsStatement(context, usedTags(context), TOP),
    sql`SELECT count(*) AS unindexed
      FROM outbox o ${dialect.follow('entries', 'e', sql`e.id = CAST(o.key AS BIGINT)`)}
      WHERE o.org = ${scope.org} AND o.topic = 'index' AND ${shown}`,
    sql`SELECT coalesce(sum(c.versions), 0) AS versions, coalesce(sum(c.bytes), 0) AS bytes FROM version_counters c
      WHERE c.org = ${scope.org} AND ${counted}`,
    sql`SELECT count(*) AS pending, coalesce(sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), 0) AS failed,
      min(created_at) AS oldest FROM outbox o
      WHERE o.org = ${scope.org} AND ${ownWork}`,
  ]
}

/** The same with what the batch has begun: threads, tags and images may be too many for a statement. */
export async function countMany(
  connection: SqlConnection,
  pace: Pace,
  context: ReadContext,
  results: readonly Row[][],
): Promise<Row[][]> {
  const all = [...results]
  const wholly = async (place: number, groups: Groups, most: number) => {
    const { count, first } = await groupsOf(connection, pace, context, groups, { most, begun: results[place] ?? [] })
    all[place] = first.map((row) => ({ ...row, names: count }))
  }
  await wholly(1, activeThreads(context), ACTIVE)
  all[2] = [{ bytes: await imageBytes(connection, pace, context, results[2] ?? []) }]
  await wholly(3, usedTags(context), TOP)
  return all
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
    threads: number(first(1).names),
    entryBytes: number(totals.bytes),
    activeThreads: (results[1] ?? []).map((row) => ({ threadId: row.thread_id as string, count: number(row.entries) })),
    images: number(totals.images),
    imageBytes: number(first(2).bytes),
    uniqueTags: number(first(3).names),
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
