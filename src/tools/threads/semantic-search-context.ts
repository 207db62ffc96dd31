import * as z from 'zod'
import { defineTool } from '../define-tool'
import { output } from '../fields'
import { inspectFilter, readFilter } from '../filters'
import { queryField } from '../query-field'
import { threads } from './family'
import { counts, distance, rankedEntries, rankedInput, rankedOutput, readWindow, score } from './ranked'
import { stats } from './search-context'

export const semanticSearchContext = defineTool({
  family: threads,
  name: 'semantic_search_context',
  title: 'Search by meaning',
  description:
    'Find entries by meaning, even in other words, closest first. Distance: 0 (same) to 2, without a cutoff.',
  enabled: (config) => config.semantic.enabled,
  example: { query: 'unreliable sign-in test', limit: 1 },
  promise: 'THREADS-121',
  budget: { tokens: 480, trips: 3, reads: [6_050, 25_800], writes: 0 },
  input: z.strictObject({
    query: queryField,
    ...rankedInput,
  }),
  output: output({
    ...rankedOutput,
    model: z.string(),
  }),
  inspect: inspectFilter,
  async handler(context, args) {
    const { services, principal, config } = context
    const startedAt = services.now()
    const { model } = config.embedding
    const read = readFilter(args, { query: args.query, model })
    const window = readWindow(args)
    const found = await services.rankedSearches.byMeaning(principal, {
      ...window.request,
      query: args.query,
      filter: read.filter,
      previewLength: config.truncationLength + 1,
    })
    const { results, omitted } = await rankedEntries(context, found.results, args, (result) => ({
      scores: {
        semantic_distance: distance(result.distance),
        semantic_rank: null,
        rerank_score: score(result.rerankScore),
      },
    }))
    const run = { startedAt, rows: results.length, order: `vector index (${config.vectorBackend}), nearest first` }
    return {
      query: args.query,
      results,
      ...counts(args.offset, results.length, found.total),
      ...omitted,
      model,
      ...(args.explain_query
        ? { stats: { ...stats(context, read, run), embedding_generation_ms: found.embeddingMs } }
        : {}),
      ...window.notes,
      ...(found.warnings.length > 0 ? { warnings: found.warnings } : {}),
    }
  },
})
