import { type SQL, sql } from 'drizzle-orm'
import type { StoreStatistics } from '../../../../domain/statistics'
import { Batch, type Decode } from '../../core/batch'
import { FALSE, TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { countOf, num, numOrNull, onlyRow, str } from '../../core/rows'
import { accessScope, listed, visible } from '../../core/visibility'
import { liveThreads, type ReadContext } from '../entries/read-statements'
import { isUndone } from '../outbox/outbox-rows'
import { invisibleEntries, visibleTotals } from './visible-counts'

/** Groups of a count by name: threads, tags. */
export interface Groups {
  /** Tables, and a query of one row for each name. */
  readonly tables: readonly SQL[]
  readonly query: SQL
  readonly order: SQL
}

/** Returns the first names after the skipped ones, each with the total number of names as `names`. */
export const groupsStatement = ({ tables, query, order }: Groups, most: number, skipped = 0): SQL => sql`
  WITH ${sql.join([...tables], sql`, `)}
  SELECT named.*, count(*) OVER () AS names FROM (${query}) AS named ORDER BY ${order} LIMIT ${most} OFFSET ${skipped}`

/** Returns the total number of names; 0 when all are skipped. */
export const nameCount = countOf('names')

export const toGroups =
  <T>(one: (row: Row) => T): Decode<{ readonly count: number; readonly first: readonly T[] }> =>
  (rows) => ({ count: nameCount(rows), first: rows.map(one) })

/** Returns one row: entries with vectors of a model, the number of these vectors, and their bytes. */
export function vectorCountsStatement(context: Omit<ReadContext, 'indexedFields'>, model: string): SQL {
  const { dialect, scope } = context
  return sql`WITH ${invisibleEntries(context)}
    SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(vectors), 0) AS vectors, coalesce(sum(bytes), 0) AS bytes
    FROM (
      SELECT c.entries, c.vectors, c.bytes FROM vector_counters c
      WHERE c.org = ${scope.org} AND c.model = ${model} AND ${accessScope(dialect, scope, 'c', 'empty')}
      UNION ALL
      SELECT CASE WHEN v.chunk = 0 THEN -1 ELSE 0 END, -1, -octet_length(v.data)
      FROM gone ${dialect.plan.follow('entry_vectors', 'v', sql`v.entry_id = gone.id`)} WHERE v.model = ${model}
    ) counted`
}

/** Maximum number of named threads, and of tags. */
const [ACTIVE, TOP] = [5, 10]

/** Returns the threads with the most entries. */
const activeThreads = (context: ReadContext): Groups => ({
  tables: [liveThreads(context)],
  query: sql`SELECT thread_id, entries FROM live`,
  order: sql`entries DESC, thread_id`,
})

/** Returns the most frequent tags. */
const usedTags = (context: ReadContext): Groups => {
  const { dialect, scope } = context
  return {
    tables: [invisibleEntries(context)],
    query: sql`SELECT tag, sum(uses) AS uses FROM (
        SELECT c.tag, c.uses FROM tag_counters c WHERE c.org = ${scope.org} AND ${accessScope(dialect, scope, 'c', 'empty')}
        UNION ALL
        SELECT t.value, -1 FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)}
          CROSS JOIN ${dialect.jsonRows(sql`e.tags`)} t
      ) counted GROUP BY tag HAVING sum(uses) > 0`,
    order: sql`uses DESC, tag`,
  }
}

/** Returns the bytes of the distinct images that a scope sees. */
const imageBytesStatement = ({ dialect, scope, now }: ReadContext): SQL => sql`
  SELECT coalesce(sum(size), 0) AS bytes FROM (
    SELECT u.hash, max(u.size) AS size FROM image_uses u ${dialect.plan.follow('entries', 'e', sql`e.id = u.entry_id`)}
    WHERE u.org = ${scope.org} AND ${listed(dialect, scope, now)} GROUP BY u.hash
  ) used`

/**
 * Reads the numbers of get_statistics in one round trip, from counters with one row for each set of readers, thread and tag. Of entries,
 * only those with images are read.
 */
export async function readStatistics(connection: SqlConnection, context: ReadContext): Promise<StoreStatistics> {
  const { dialect, scope, now } = context
  const shown = listed(dialect, scope, now)
  const counted = accessScope(dialect, scope, 'c', 'empty')
  // Work for an entry counts for those who can read it; work for the organization counts for unrestricted keys.
  const ownWork = sql`CASE WHEN o.topic IN ('embed', 'summarize') THEN EXISTS (SELECT 1 FROM entries e
    WHERE e.id = CAST(o.key AS BIGINT) AND ${visible(dialect, scope, now)})
    ELSE ${scope.projects === null ? TRUE : FALSE} END`
  const batch = new Batch()
  const totals = batch.add(visibleTotals(context), onlyRow(toTotals))
  const threads = batch.add(
    groupsStatement(activeThreads(context), ACTIVE),
    toGroups((row) => ({ threadId: str(row, 'thread_id'), count: num(row, 'entries') })),
  )
  const images = batch.add(imageBytesStatement(context), countOf('bytes'))
  const tags = batch.add(
    groupsStatement(usedTags(context), TOP),
    toGroups((row) => ({ tag: str(row, 'tag'), count: num(row, 'uses') })),
  )
  const unindexed = batch.add(
    sql`SELECT count(*) AS n
      FROM outbox o ${dialect.plan.follow('entries', 'e', sql`e.id = CAST(o.key AS BIGINT)`)}
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
      WHERE o.org = ${scope.org} AND ${isUndone(now)} AND ${ownWork}`,
    onlyRow((row) => ({
      pending: num(row, 'pending') - num(row, 'failed'),
      failed: num(row, 'failed'),
      oldestAt: numOrNull(row, 'oldest'),
    })),
  )
  const result = await batch.read(connection)
  const [active, top] = [result.of(threads), result.of(tags)]
  const { entries, userEntries, ...all } = result.of(totals)
  return {
    entries,
    bySource: { user: userEntries, agent: entries - userEntries },
    multimodal: all.multimodal,
    threads: active.count,
    entryBytes: all.bytes,
    activeThreads: active.first,
    images: all.images,
    imageBytes: result.of(images),
    uniqueTags: top.count,
    topTags: top.first,
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
