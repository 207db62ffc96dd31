import { z } from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import { invalidInput } from '../../domain/errors'
import { DAY_MS } from '../../domain/time'
import { defineTool } from '../define-tool'
import { contextIds, output, source, strings, threadIds } from '../fields'
import { deleteAll, deletedOutput, dryRun, wouldDelete } from './deletion'
import { threads } from './family'

export const deleteContextBatch = defineTool({
  family: threads,
  name: 'delete_context_batch',
  title: 'Delete contexts by criteria',
  description: 'Delete what fulfils every given criterion.',
  effect: 'delete',
  input: z.strictObject({
    context_ids: contextIds('Among these entries').optional(),
    thread_ids: threadIds('In these threads').optional(),
    source: source('By this source, with another criterion').optional(),
    older_than_days: z.int().min(1).max(36_500).optional().meta({ description: 'Created longer ago' }),
    dry_run: dryRun,
  }),
  output: output({ ...deletedOutput, criteria_used: strings('Criterion') }),
  isCostly: () => false,
  leavesWork: (_, { deleted_count }) => deleted_count !== 0,
  async handler(context, args) {
    const { services } = context
    const ids = args.context_ids?.length ? args.context_ids : undefined
    const threadIds = args.thread_ids?.length ? args.thread_ids.map(checkThreadId) : undefined
    const { source: by, older_than_days: days } = args
    if (!ids && !threadIds && by === undefined && days === undefined)
      throw invalidInput('At least one deletion criterion must be provided', [
        { path: 'context_ids', given: 'nothing' },
      ])
    if (!ids && !threadIds && days === undefined)
      throw invalidInput('source filter must be combined with another criterion', [
        { path: 'thread_ids', given: 'nothing' },
      ])
    const selection = {
      ...(ids ? { ids } : {}),
      ...(threadIds ? { threadIds } : {}),
      ...(by ? { source: by } : {}),
      ...(days === undefined ? {} : { createdBefore: services.now() - days * DAY_MS }),
    }
    if (args.dry_run) return wouldDelete(context, selection)
    return {
      ...(await deleteAll(context, selection)),
      criteria_used: [
        ...(ids ? [`context_ids: ${ids.length} IDs`] : []),
        ...(threadIds ? [`thread_ids: ${threadIds.length} threads`] : []),
        ...(by ? [`source: ${by}`] : []),
        ...(days === undefined ? [] : [`older_than_days: ${days}`]),
      ],
    }
  },
})
