import { z } from 'zod'
import { clampLimit } from '../../domain/window'
import type { ToolContext } from '../context'
import { defineTool } from '../define-tool'
import { flag, limit, offset, output } from '../fields'
import { filterFields, type ReadFilter, readFilter } from '../filters'
import { threads } from './family'
import { clampedOutput, foundEntry, foundEntryOutput, imagesToWire } from './wire'

export const statsOutput = z.looseObject({
  execution_time_ms: z.number(),
  filters_applied: z.int(),
  rows_returned: z.int(),
  backend: z.string(),
  query_plan: z.string(),
})

/** The `stats` member of searches: product words, no SQL. */
export function stats(
  context: ToolContext,
  read: ReadFilter,
  run: { readonly startedAt: number; readonly rows: number; readonly order: string },
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
    'Browse stored entries newest first, narrowed by thread, source, tags, metadata and dates. No word query: use fts_search_context for words. Texts are truncated; get_context_by_ids brings them whole.',
  effect: 'read',
  input: z.strictObject({
    ...filterFields,
    limit: limit(30),
    offset,
    include_images: flag(false, 'Bring image data too'),
    explain_query: flag(false, 'Add stats about how the search ran'),
  }),
  output: output({
    results: z.array(foundEntryOutput),
    count: z.int(),
    total: z.int(),
    has_more: z.boolean(),
    stats: statsOutput,
    clamped_limit: clampedOutput,
    validation_errors: z.array(z.string()),
  }),
  async handler(context, args) {
    const { services, principal, config } = context
    const startedAt = services.now()
    const { limit: applied, clamped } = clampLimit(args.limit)
    const read = readFilter(args)
    const { entries, total } = await services.entries.page(principal, read.filter, {
      limit: applied,
      offset: args.offset,
      previewLength: config.truncationLength + 1,
    })
    const images = args.include_images ? await imagesToWire(context, entries) : null
    const results = entries.map((entry) => ({
      ...foundEntry(entry, config.truncationLength),
      ...(images && entry.images.length > 0 ? { images: images.get(entry.id) } : {}),
    }))
    return {
      results,
      count: results.length,
      total,
      has_more: args.offset + results.length < total,
      ...(args.explain_query
        ? { stats: stats(context, read, { startedAt, rows: results.length, order: 'newest first' }) }
        : {}),
      ...(clamped ? { clamped_limit: clamped } : {}),
    }
  },
})
