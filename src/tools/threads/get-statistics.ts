import * as z from 'zod'
import { capacityWarning } from '../../domain/capacity'
import { formatSecond } from '../../domain/time'
import { defineTool } from '../define-tool'
import { output, part } from '../fields'
import { threads } from './family'
import {
  chunkingStatus,
  connectionMetrics,
  ftsStatus,
  megabytes,
  OFF,
  round,
  semanticStatus,
  summaryStatus,
} from './feature-status'

const feature = part('Feature', { enabled: z.boolean(), available: z.boolean() })

export const getStatistics = defineTool({
  family: threads,
  name: 'get_statistics',
  title: 'Get statistics',
  description: 'Counts of entries, threads and tags, and active features.',
  example: {},
  promise: 'THREADS-150',
  budget: { tokens: 50, trips: 4, reads: [223, 223], writes: 0 },
  input: z.strictObject({}),
  output: output({
    total_entries: z.int(),
    by_source: part('Entries', { user: z.int(), agent: z.int() }),
    by_content_type: part('Entries', { text: z.int(), multimodal: z.int() }),
    total_images: z.int(),
    unique_tags: z.int(),
    total_threads: z.int(),
    avg_entries_per_thread: z.number(),
    most_active_threads: z.array(part('Thread', { thread_id: z.string(), count: z.int() })),
    top_tags: z.array(part('Tag', { tag: z.string(), count: z.int() })),
    backend: z.string(),
    database_size_mb: z.number(),
    images_size_mb: z.number(),
    embeddings_size_mb: z.number(),
    embeddings_size_estimated: z.boolean(),
    connection_metrics: part('Of this process', { pool_size: z.int() }),
    semantic_search: feature,
    fts: feature,
    chunking: feature,
    reranking: feature,
    summary: feature,
    history: part('Old versions', { versions: z.int(), bytes: z.int(), days: z.int() }),
    pending_work: part('Queued work', { pending: z.int(), failed: z.int() }),
  }),
  async handler(context) {
    const { services, principal } = context
    const totals = await services.entries.statistics(principal)
    const semantic = await semanticStatus(context, totals.entries)
    const { config } = context
    const { bytes, limit } = services.health.database
    const full = capacityWarning(bytes?.() ?? null, limit ?? null)
    return {
      ...(full !== null && { warnings: [full] }),
      total_entries: totals.entries,
      by_source: totals.bySource,
      by_content_type: { text: totals.entries - totals.multimodal, multimodal: totals.multimodal },
      total_images: totals.images,
      unique_tags: totals.uniqueTags,
      total_threads: totals.threads,
      avg_entries_per_thread: totals.threads === 0 ? 0 : round(totals.entries / totals.threads),
      most_active_threads: totals.activeThreads.map(({ threadId, count }) => ({ thread_id: threadId, count })),
      top_tags: totals.topTags,
      backend: services.health.database.backend,
      database_size_mb: megabytes(totals.entryBytes),
      images_size_mb: megabytes(totals.imageBytes),
      embeddings_size_mb: megabytes(semantic.bytes),
      // Counted from the rows.
      embeddings_size_estimated: false,
      connection_metrics: connectionMetrics(context),
      semantic_search: semantic.status,
      fts: await ftsStatus(context, totals.indexedEntries, totals.entries),
      chunking: chunkingStatus(config),
      reranking: config.reranking === null ? OFF : { enabled: true, available: true, ...config.reranking },
      summary: summaryStatus(config, totals.summaries, totals.entries),
      history: { ...totals.kept, days: config.history.days },
      pending_work: {
        pending: totals.work.pending,
        failed: totals.work.failed,
        oldest_at: totals.work.oldestAt === null ? null : formatSecond(totals.work.oldestAt),
      },
    }
  },
})
