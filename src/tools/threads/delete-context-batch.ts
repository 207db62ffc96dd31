import { z } from 'zod'
import { checkThreadId } from '../../domain/draft'
import { SOURCES } from '../../domain/entry'
import { invalidInput } from '../../domain/errors'
import { defineTool } from '../define-tool'
import { contextIds, output } from '../fields'
import { threads } from './family'

const DAY_MS = 86_400_000

export const deleteContextBatch = defineTool({
  family: threads,
  name: 'delete_context_batch',
  title: 'Delete contexts by criteria',
  description:
    'Delete all entries that fulfil every given criterion: ids, threads, age, and source together with another. Irreversible.',
  effect: 'delete',
  input: z.strictObject({
    context_ids: contextIds('Among these entries').optional(),
    thread_ids: z.array(z.string()).max(100).optional().meta({ description: 'In these threads' }),
    source: z
      .enum(SOURCES, { error: () => 'Missing or invalid source (must be "user" or "agent")' })
      .optional()
      .meta({ description: 'By this source; only together with another criterion' }),
    older_than_days: z
      .int()
      .min(1)
      .max(36_500)
      .optional()
      .meta({ description: 'Created more than this many days ago' }),
  }),
  output: output({
    success: z.boolean(),
    deleted_count: z.int(),
    criteria_used: z.array(z.string()),
    message: z.string(),
  }),
  leavesWork: (_, { deleted_count }) => deleted_count !== 0,
  async handler({ services, principal }, args) {
    const ids = args.context_ids?.length ? args.context_ids : undefined
    const threadIds = args.thread_ids?.length ? args.thread_ids.map(checkThreadId) : undefined
    const { source, older_than_days: days } = args
    if (!ids && !threadIds && source === undefined && days === undefined)
      throw invalidInput('At least one deletion criterion must be provided')
    if (!ids && !threadIds && days === undefined)
      throw invalidInput('source filter must be combined with another criterion')
    const count = await services.entries.delete(principal, {
      ...(ids ? { ids } : {}),
      ...(threadIds ? { threadIds } : {}),
      ...(source ? { source } : {}),
      ...(days === undefined ? {} : { createdBefore: services.now() - days * DAY_MS }),
    })
    return {
      success: true,
      deleted_count: count,
      criteria_used: [
        ...(ids ? [`context_ids: ${ids.length} IDs`] : []),
        ...(threadIds ? [`thread_ids: ${threadIds.length} threads`] : []),
        ...(source ? [`source: ${source}`] : []),
        ...(days === undefined ? [] : [`older_than_days: ${days}`]),
      ],
      message: `Successfully deleted ${count} context entries`,
    }
  },
})
