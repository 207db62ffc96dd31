import { z } from 'zod'
import { SEARCH_MODES } from '../../domain/query'
import { codePointLength, trim } from '../../domain/text'
import { clampLimit, RANK_DEPTH, reachesBeyondRankDepth } from '../../domain/window'
import { defineTool } from '../define-tool'
import { flag, limit, offset, output } from '../fields'
import { filterFields, readFilter } from '../filters'
import { parseArguments } from '../parse-arguments'
import { stats, statsOutput } from './search-context'
import { clampedOutput, foundEntry, foundEntryOutput, imagesToWire } from './wire'

const MAX_QUERY = 10_000

export const queryField = z
  .string()
  .refine((query) => trim(query) !== '', { error: 'query cannot be empty or whitespace' })
  .refine((query) => codePointLength(query) <= MAX_QUERY, {
    error: `query has more than ${MAX_QUERY} characters`,
  })
  .meta({ minLength: 1, maxLength: MAX_QUERY, description: 'What to look for' })

export const rankDepthOutput = z.looseObject({
  requested_offset: z.int(),
  requested_limit: z.int(),
  rank_depth: z.int(),
})

export const ftsSearchContext = defineTool(
  {
    family: 'threads',
    name: 'fts_search_context',
    title: 'Search by words',
    description:
      'Find entries by words, best first. Modes: match (any of the words, those with all of them first; "quoted phrases" stay together), prefix (autocomplete), phrase (the words next to each other), boolean (AND, OR, NOT, brackets, "phrases", word*).',
    effect: 'read',
    enabled: (config) => config.fts.enabled,
    input: z.strictObject({
      query: queryField,
      mode: z.enum(SEARCH_MODES).default('match').meta({ description: 'How the query is read' }),
      ...filterFields,
      limit: limit(5),
      offset,
      highlight: flag(false, 'Add the stretch of text that was found, hits in <mark>; plain text, not HTML-escaped'),
      include_images: flag(false, 'Bring image data too'),
      explain_query: flag(false, 'Add stats about how the search ran'),
    }),
    output: output({
      query: z.string(),
      mode: z.string(),
      results: z.array(foundEntryOutput),
      count: z.int(),
      total: z.int(),
      has_more: z.boolean(),
      language: z.string(),
      fts_available: z.boolean(),
      stats: statsOutput,
      clamped_limit: clampedOutput,
      rank_depth_limit: rankDepthOutput,
      warnings: z.array(z.string()),
      validation_errors: z.array(z.string()),
    }),
    async handler(context, args) {
      const { services, principal, config } = context
      const startedAt = services.now()
      const { limit: applied, clamped } = clampLimit(args.limit)
      const window = { limit: applied, offset: args.offset }
      const always = { query: args.query, mode: args.mode, language: config.fts.language, fts_available: true }
      const read = readFilter(args, always)
      const found = await services.searchText(principal, {
        ...window,
        query: args.query,
        mode: args.mode,
        filter: read.filter,
        highlight: args.highlight,
        previewLength: config.truncationLength + 1,
      })
      const images = args.include_images
        ? await imagesToWire(
            context,
            found.results.map(({ entry }) => entry),
          )
        : null
      const results = found.results.map(({ entry, score, highlighted }) => ({
        ...foundEntry(entry, config.truncationLength),
        scores: { fts_score: score, fts_rank: null, rerank_score: null },
        ...(args.highlight ? { highlighted } : {}),
        ...(images && entry.images.length > 0 ? { images: images.get(entry.id) } : {}),
      }))
      const order = `full text index (${services.fullText.engine}), best first`
      return {
        query: args.query,
        mode: args.mode,
        results,
        count: results.length,
        total: found.total,
        has_more: args.offset + results.length < found.total,
        language: config.fts.language,
        fts_available: true,
        ...(args.explain_query ? { stats: stats(context, read, { startedAt, rows: results.length, order }) } : {}),
        ...(clamped ? { clamped_limit: clamped } : {}),
        ...(reachesBeyondRankDepth(window)
          ? {
              rank_depth_limit: {
                requested_offset: args.offset,
                requested_limit: applied,
                rank_depth: RANK_DEPTH,
              },
            }
          : {}),
        ...(found.warnings.length > 0 ? { warnings: found.warnings } : {}),
      }
    },
  },
  parseArguments,
)
