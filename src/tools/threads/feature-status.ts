import { MEGABYTE } from '../../domain/entry/image'
import { insteadOf } from '../../domain/meaning/hosted-model'
import type { ToolContext } from '../context'

/** What statistics tell of each feature: whether it is on, and how much of the store it covers. */

export const OFF = { enabled: false, available: false } as const
export const round = (value: number): number => Math.round(value * 100) / 100
export const megabytes = (bytes: number): number => round(bytes / MEGABYTE)
const percentage = (part: number, whole: number): number => (whole === 0 ? 0 : round((part / whole) * 100))

export function connectionMetrics({ services }: ToolContext) {
  const { backend, counts } = services.health.database
  const { total, failed, lastFailed, latencyMs } = counts()
  return {
    backend_type: backend,
    // D1 has one writer, and PostgreSQL is asked over one connection a request.
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
        'The index was written for another FTS_LANGUAGE or an earlier release; it is being rewritten and may miss words until that is done',
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

/** Coverage of the configured model, and how much of the store its vectors take. */
/** Also why another built-in model would serve better. */
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
