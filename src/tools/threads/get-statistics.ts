import * as z from 'zod'
import { capacityWarning } from '../../domain/capacity'
import { MEGABYTE } from '../../domain/entry/image'
import { insteadOf } from '../../domain/meaning/hosted-model'
import { formatSecond } from '../../domain/time'
import type { ToolContext } from '../context'
import { defineTool } from '../define-tool'
import { output, part } from '../fields'
import { threads } from './family'

/** The status of a feature that is switched off. */

export const OFF = { enabled: false, available: false } as const
export const round = (value: number): number => Math.round(value * 100) / 100
export const megabytes = (bytes: number): number => round(bytes / MEGABYTE)
const percentage = (part: number, whole: number): number => (whole === 0 ? 0 : round((part / whole) * 100))

export function connectionMetrics({ services }: ToolContext) {
  const { backend, counts } = services.health.database
  const { total, failed, lastFailed, latencyMs } = counts()
  return {
    backend_type: backend,
    // D1 has one writer, and PostgreSQL uses one connection per request.
    pool_size: 1,
    circuit_state: lastFailed ? 'failing' : 'healthy',
    latency_ms: latencyMs,
    total_queries: total,
    failed_queries: failed,
  }
}

export async function ftsStatus({ services, config }: ToolContext, indexed: number, entries: number) {
  if (!config.fts.enabled) return OFF
  if (!(await services.fullText.isCurrent()))
    return {
      enabled: true,
      available: true,
      message:
        'The index was built for another FTS_LANGUAGE or an earlier release. It is being rebuilt and may miss words until then',
    }
  const { engine, language, stemming } = services.fullText
  return {
    enabled: true,
    available: true,
    language,
    stemming,
    backend: services.health.database.backend,
    engine,
    indexed_entries: indexed,
    coverage_percentage: percentage(indexed, entries),
  }
}

/** Returns the coverage and size of the vectors of the configured model, and suggests a better built-in model. */
export async function semanticStatus({ services, principal, config }: ToolContext, entries: number) {
  if (services.vectorCounts === null) return { status: OFF, bytes: 0 }
  const { provider, model, dimensions, hosted } = config.embedding
  const [counted, suggestion] = await Promise.all([services.vectorCounts(principal), services.suggestModel(principal)])
  return {
    bytes: counted.bytes,
    status: {
      enabled: true,
      available: true,
      backend: config.vectorBackend,
      provider,
      model,
      dimensions,
      context_count: counted.entries,
      embedding_count: counted.vectors,
      average_chunks_per_entry: counted.entries === 0 ? 0 : round(counted.vectors / counted.entries),
      coverage_percentage: percentage(counted.entries, entries),
      ...(suggestion !== null && { suggestion }),
      waiting_count: Math.max(0, entries - counted.entries),
      ...(hosted !== null && hosted.state !== 'ready' && { message: insteadOf(hosted) }),
    },
  }
}

export function chunkingStatus({ chunking, semantic }: ToolContext['config']) {
  if (chunking === null || !semantic.enabled) return OFF
  return {
    enabled: true,
    available: true,
    chunk_size: chunking.size,
    chunk_overlap: chunking.overlap,
    aggregation: 'max',
  }
}

export function summaryStatus({ summary }: ToolContext['config'], summaries: number, entries: number) {
  if (summary === null) return OFF
  return {
    enabled: true,
    available: true,
    provider: summary.provider,
    model: summary.model,
    summary_count: summaries,
    coverage_percentage: percentage(summaries, entries),
    min_content_length: summary.minContentLength,
  }
}

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
