import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import type { StoreStatistics } from '../../../../domain/report'
import { compareCodePoints } from '../../../../domain/text'
import { Batch } from '../../core/batch'
import { FALSE, TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, countOf, num, numOrNull, onlyRow, str } from '../../core/rows'
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
          SELECT t.value, -1 FROM gone ${dialect.follow('entries', 'e', sql`e.id = gone.id`)}
            CROSS JOIN ${dialect.jsonRows(sql`e.tags`)} t WHERE 1 = 1${of('t.value')}
        ) counted GROUP BY tag HAVING sum(uses) > 0`,
    }
  },
  columns: ['tag', 'uses'],
  order: sql`uses DESC, tag`,
  compare: byNumber('uses', 'tag'),
})

/** The most first, then by name as databases order it: by code points. */
function byNumber(number: string, name: string): Groups['compare'] {
  return (a, b) => num(b, number) - num(a, number) || compareCodePoints(str(a, name), str(b, name))
}

/**
 * What get_statistics counts. It reads counters, one row a circle of readers, a thread and a tag, and of entries only those with images; in
 * one round trip, or several where there are too many threads, tags or images for a statement.
 */
export async function readStatistics(
  connection: SqlConnection,
  pace: Pace,
  context: ReadContext,
): Promise<StoreStatistics> {
  const { dialect, scope, now } = context
  const shown = listed(dialect, scope, now)
  const counted = circle(dialect, scope, 'c', 'empty')
  // Work for an entry is counted for those who can read it; work for the org as a whole, for keys of the whole org.
  const ownWork = sql`CASE WHEN o.topic IN ('embed', 'summarize') THEN EXISTS (SELECT 1 FROM entries e
    WHERE e.id = CAST(o.key AS BIGINT) AND ${visible(dialect, scope, now)})
    ELSE ${scope.projects === null ? TRUE : FALSE} END`
  const batch = new Batch()
  const totals = batch.add(circleTotals(context), onlyRow(toTotals))
  const threads = batch.add(groupsStatement(context, activeThreads(context), ACTIVE), asRows)
  const images = batch.add(imageBytesStatement(context), asRows)
  const tags = batch.add(groupsStatement(context, usedTags(context), TOP), asRows)
  const unindexed = batch.add(
    sql`SELECT count(*) AS n
      FROM outbox o ${dialect.follow('entries', 'e', sql`e.id = CAST(o.key AS BIGINT)`)}
      WHERE o.org = ${scope.org} AND o.topic = 'index' AND ${shown}`,
    countOf(),
  )
  const kept = batch.add(
    sql`SELECT coalesce(sum(c.versions), 0) AS versions, coalesce(sum(c.bytes), 0) AS bytes FROM version_counters c
      WHERE c.org = ${scope.org} AND ${counted}`,
    onlyRow((row) => ({ versions: num(row, 'versions'), bytes: num(row, 'bytes') })),
  )
  const work = batch.add(
    sql`SELECT count(*) AS pending, coalesce(sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), 0) AS failed,
      min(created_at) AS oldest FROM outbox o
      WHERE o.org = ${scope.org} AND ${ownWork}`,
    onlyRow((row) => ({
      pending: num(row, 'pending') - num(row, 'failed'),
      failed: num(row, 'failed'),
      oldestAt: numOrNull(row, 'oldest'),
    })),
  )
  const result = await batch.read(connection)
  const inAll = async (groups: Groups, most: number, begun: readonly Row[]) =>
    groupsOf(connection, pace, context, groups, { most, begun })
  const active = await inAll(activeThreads(context), ACTIVE, result.of(threads))
  const bytes = await imageBytes(connection, pace, context, result.of(images))
  const top = await inAll(usedTags(context), TOP, result.of(tags))
  const { entries, userEntries, ...all } = result.of(totals)
  return {
    entries,
    bySource: { user: userEntries, agent: entries - userEntries },
    multimodal: all.multimodal,
    threads: active.count,
    entryBytes: all.bytes,
    activeThreads: active.first.map((row) => ({ threadId: str(row, 'thread_id'), count: num(row, 'entries') })),
    images: all.images,
    imageBytes: bytes,
    uniqueTags: top.count,
    topTags: top.first.map((row) => ({ tag: str(row, 'tag'), count: num(row, 'uses') })),
    summaries: all.summaries,
    indexedEntries: entries - result.of(unindexed),
    kept: result.of(kept),
    work: result.of(work),
  }
}

const toTotals = (row: Row) => ({
  entries: numOrNull(row, 'entries') ?? 0,
  userEntries: numOrNull(row, 'user_entries') ?? 0,
  multimodal: numOrNull(row, 'multimodal') ?? 0,
  bytes: numOrNull(row, 'bytes') ?? 0,
  images: numOrNull(row, 'images') ?? 0,
  summaries: numOrNull(row, 'summaries') ?? 0,
})
