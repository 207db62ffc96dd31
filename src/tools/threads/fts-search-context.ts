import * as z from 'zod'
import { SEARCH_MODES } from '../../domain/search/query'
import { defineTool } from '../define-tool'
import { flag, output } from '../fields'
import { inspectFilter, readFilter } from '../filters'
import { queryField } from '../query-field'
import { threads } from './family'
import { counts, rankedEntries, rankedInput, rankedOutput, readWindow, score } from './ranked'
import { stats } from './search-context'

export const ftsSearchContext = defineTool({
  family: threads,
  name: 'fts_search_context',
  title: 'Search by words',
  description:
    'Find entries by words, best first. Modes: match (any word, "quoted phrases"), prefix, phrase (words next ' +
    'to each other), boolean (AND OR NOT, brackets, "phrases", word*).',
  enabled: (config) => config.fts.enabled,
  example: { query: 'login flaky', highlight: true },
  promise: 'THREADS-88',
  budget: { tokens: 550, trips: 3, reads: [20_200, 39_900], writes: 0 },
  input: z.strictObject({
    query: queryField,
    mode: z.enum(SEARCH_MODES).default('match').meta({ description: 'How to parse the query' }),
    ...rankedInput,
    highlight: flag(false, 'Add the matched part, hits in <mark>'),
  }),
  output: output({
    ...rankedOutput,
    mode: z.string(),
    language: z.string(),
    fts_available: z.boolean(),
  }),
  inspect: inspectFilter,
  async handler(context, args) {
    const { services, principal, config } = context
    const startedAt = services.now()
    const { language } = config.fts
    const always = { query: args.query, mode: args.mode, language, fts_available: true }
    const read = readFilter(args, always)
    const window = readWindow(args)
    const found = await services.rankedSearches.byWords(principal, {
      ...window.request,
      query: args.query,
      mode: args.mode,
      filter: read.filter,
      highlight: args.highlight,
      previewLength: config.truncationLength + 1,
    })
    const { results, omitted } = await rankedEntries(context, found.results, args, (result) => ({
      scores: { fts_score: score(result.ftsScore), fts_rank: null, rerank_score: score(result.rerankScore) },
      ...(args.highlight ? { highlighted: result.highlighted } : {}),
    }))
    const order = `full text index (${services.fullText.engine}), best first`
    return {
      query: args.query,
      mode: args.mode,
      results,
      ...counts(args.offset, results.length, found.total),
      ...omitted,
      language,
      fts_available: true,
      ...(args.explain_query ? { stats: stats(context, read, { startedAt, rows: results.length, order }) } : {}),
      ...window.notes,
      ...(found.warnings.length > 0 ? { warnings: found.warnings } : {}),
    }
  },
})
