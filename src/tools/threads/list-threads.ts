import * as z from 'zod'
import { clampLimit } from '../../domain/search/window'
import { formatSecond } from '../../domain/time'
import { defineTool } from '../define-tool'
import { offset, output, part } from '../fields'
import { threads } from './family'

/** Maximum threads of a list without a limit. */
const ALL = 1000

export const listThreads = defineTool({
  family: threads,
  name: 'list_threads',
  title: 'List threads',
  description: 'List threads, last used first, with counts and dates.',
  example: {},
  promise: 'THREADS-71',
  budget: { tokens: 80, trips: 2, reads: [108, 108], writes: 0 },
  input: z.strictObject({
    limit: z.int().min(1).optional().meta({ description: 'Threads, 1–100; default all, up to 1,000' }),
    offset,
  }),
  output: output({
    threads: z.array(
      part('Thread', {
        thread_id: z.string(),
        entry_count: z.int(),
        source_types: z.int(),
        multimodal_count: z.int(),
        first_entry: z.string(),
        last_entry: z.string(),
        last_id: z.int(),
      }),
    ),
    total: z.int(),
    total_threads: z.int(),
    has_more: z.boolean(),
    clamped_limit: part('When limit was above 100', {}),
  }),
  async handler({ services, principal }, args) {
    const { limit, clamped } = args.limit === undefined ? { limit: ALL, clamped: null } : clampLimit(args.limit)
    const { threads, total } = await services.entries.threads(principal, { limit, offset: args.offset })
    return {
      threads: threads.map((thread) => ({
        thread_id: thread.threadId,
        entry_count: thread.entries,
        source_types: thread.sources,
        multimodal_count: thread.multimodal,
        first_entry: formatSecond(thread.firstSecond * 1000),
        last_entry: formatSecond(thread.lastSecond * 1000),
        last_id: thread.lastId,
      })),
      total,
      total_threads: total,
      has_more: args.offset + threads.length < total,
      ...(clamped ? { clamped_limit: clamped } : {}),
    }
  },
})
