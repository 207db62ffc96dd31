import * as z from 'zod'
import { FUSION_METHODS } from '../../domain/search/fusion'
import { defineTool } from '../define-tool'
import { output, strings } from '../fields'
import { inspectFilter, readFilter } from '../filters'
import { laterMember } from '../may-replace'
import { queryField } from '../query-field'
import { threads } from './family'
import { counts, distance, rankedEntries, rankedInput, rankedOutput, readWindow, score } from './ranked'
import { stats } from './search-context'

export const hybridSearchContext = defineTool({
  family: threads,
  name: 'hybrid_search_context',
  title: 'Search by words and meaning',
  description: 'Find entries by words and meaning. Use it first for a question.',
  enabled: (config) => config.hybrid.enabled && (config.fts.enabled || config.semantic.enabled),
  example: { query: 'Why is the login test flaky?', limit: 1 },
  promise: 'THREADS-135',
  budget: { tokens: 530, trips: 4, reads: [22_800, 64_000], writes: 0 },
  input: z.strictObject({
    query: queryField,
    fusion_method: z.enum(FUSION_METHODS).optional().meta({
      description: 'scores: by score (default); rrf: by rank (default with rrf_k)',
    }),
    rrf_k: z.int().min(1).max(1000).optional().meta({ description: 'Smoothing of rrf' }),
    ...rankedInput,
  }),
  output: output({
    ...rankedOutput,
    fusion_method: z.string(),
    search_modes_used: strings('fts or semantic'),
    fts_count: z.int(),
    semantic_count: z.int(),
  }),
  inspect: inspectFilter,
  async handler(context, args) {
    const { services, principal, config } = context
    const startedAt = services.now()
    const k = args.rrf_k ?? config.hybrid.k
    const method = args.fusion_method ?? (args.rrf_k === undefined ? config.hybrid.fusion : 'rrf')
    const read = readFilter(args, { query: args.query, fusion_method: method })
    const window = readWindow(args)
    const found = await services.rankedSearches.byBoth(principal, {
      ...window.request,
      query: args.query,
      filter: read.filter,
      previewLength: config.truncationLength + 1,
      laterFirst: true,
      method,
      k,
      legs: { fts: config.fts.enabled, semantic: config.semantic.enabled },
    })
    const { results, omitted } = await rankedEntries(context, found.results, args, (result) => ({
      ...laterMember(result),
      scores: {
        fused: score(result.fused),
        rrf: score(result.rrf),
        fts_rank: result.ftsRank,
        semantic_rank: result.semanticRank,
        fts_score: score(result.ftsScore),
        semantic_distance: distance(result.distance),
        rerank_score: score(result.rerankScore),
      },
    }))
    const retrieverStats = (mode: 'fts' | 'semantic', rows: number, order: string) =>
      found.modes.includes(mode) ? stats(context, read, { startedAt, rows, order }) : null
    return {
      query: args.query,
      results,
      ...counts(args.offset, results.length, found.total),
      ...omitted,
      fusion_method: method,
      search_modes_used: found.modes,
      fts_count: found.ftsCount,
      semantic_count: found.semanticCount,
      ...(args.explain_query
        ? {
            stats: {
              execution_time_ms: Math.max(0, services.now() - startedAt),
              fts_stats: retrieverStats('fts', found.ftsCount, `full text index (${services.fullText.engine})`),
              semantic_stats: retrieverStats('semantic', found.semanticCount, `vector index (${config.vectorBackend})`),
              fusion_stats: {
                method,
                rrf_k: k,
                lowest_cosine: score(found.lowestCosine),
                total_unique_documents: found.unique,
                documents_in_both: found.inBoth,
                documents_fts_only: found.ftsCount - found.inBoth,
                documents_semantic_only: found.semanticCount - found.inBoth,
              },
            },
          }
        : {}),
      ...window.notes,
      ...(found.warnings.length > 0 ? { warnings: found.warnings } : {}),
    }
  },
})
