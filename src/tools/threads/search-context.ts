import * as z from 'zod'
import { clampLimit } from '../../domain/search/window'
import type { Millis } from '../../domain/time'
import type { ToolContext } from '../context'
import { defineTool } from '../define-tool'
import { explainQuery, includeImages, limit, offset, output } from '../fields'
import { filterFields, inspectFilter, type ReadFilter, readFilter } from '../filters'
import { imageFormat, withImages } from '../images'
import { fitting, omittedMember } from '../result-size'
import { foundEntry, pageOutput } from './entry-serializer'
import { threads } from './family'

/** Returns the `stats` member of searches, in words of the product and without SQL. */
export function stats(
  context: ToolContext,
  read: ReadFilter,
  run: { readonly startedAt: Millis; readonly rows: number; readonly order: string },
): Record<string, unknown> {
  const filters = read.words.length === 0 ? 'no filters' : `filters: ${read.words.join(', ')}`
  return {
    execution_time_ms: Math.max(0, context.services.now() - run.startedAt),
    filters_applied: read.applied,
    rows_returned: run.rows,
    backend: context.services.health.database.backend,
    query_plan: `${filters}; ${run.order}`,
  }
}

export const searchContext = defineTool({
  family: threads,
  name: 'search_context',
  title: 'Browse context',
  description:
    'List entries, newest first, filtered by thread, source, tags, metadata, dates. For words use ' +
    'fts_search_context. Texts are cut: read_context_range has the rest.',
  example: { thread_id: 'release-1.4', limit: 2 },
  promise: 'THREADS-72',
  budget: { tokens: 470, trips: 2, reads: [2_490, 11_800], writes: 0 },
  input: z.strictObject({
    ...filterFields,
    limit: limit(30),
    offset,
    include_images: includeImages(false),
    image_format: imageFormat,
    explain_query: explainQuery,
  }),
  output: output({
    ...pageOutput,
    total_is_exact: z.literal(false).optional().describe('Counting has stopped: there are at least total'),
  }),
  inspect: inspectFilter,
  async handler(context, args) {
    const { services, principal, config } = context
    const startedAt = services.now()
    const { limit: applied, clamped } = clampLimit(args.limit)
    const read = readFilter(args)
    const { entries, total, totalIsExact } = await services.entries.page(principal, read.filter, {
      limit: applied,
      offset: args.offset,
      previewLength: config.truncationLength + 1,
    })
    const { kept, omitted, left } = await fitting(
      entries.map((entry) => ({ entry, show: () => foundEntry(entry, config.truncationLength) })),
    )
    const results = await withImages(context, kept, args, left)
    return {
      results,
      count: results.length,
      total,
      ...(totalIsExact === false ? { total_is_exact: false } : {}),
      has_more: args.offset + results.length < total,
      ...omittedMember(omitted),
      ...(args.explain_query
        ? { stats: stats(context, read, { startedAt, rows: results.length, order: 'newest first' }) }
        : {}),
      ...(clamped ? { clamped_limit: clamped } : {}),
    }
  },
})
