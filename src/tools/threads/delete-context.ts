import { z } from 'zod'
import { checkThreadId } from '../../domain/draft'
import { invalidInput } from '../../domain/errors'
import { givenAs } from '../../domain/flaws'
import { defineTool } from '../define-tool'
import { contextIds, output, threadId as thread } from '../fields'
import { threads } from './family'

export const deleteContext = defineTool({
  family: threads,
  name: 'delete_context',
  title: 'Delete context',
  description: 'Delete entries by id, or a whole thread. Irreversible. What does not exist counts 0.',
  effect: 'delete',
  input: z.strictObject({
    context_ids: contextIds('Entries to delete').min(1).optional(),
    thread_id: thread('Or every entry of this thread').optional(),
  }),
  output: output({ success: z.boolean(), deleted_count: z.int(), message: z.string() }),
  leavesWork: (_, { deleted_count }) => deleted_count !== 0,
  async handler({ services, principal }, { context_ids: ids, thread_id: threadId }) {
    if (ids === undefined && threadId === undefined)
      throw invalidInput('Must provide either context_ids or thread_id', [{ path: 'context_ids', given: 'nothing' }])
    if (ids !== undefined && threadId !== undefined)
      throw invalidInput('context_ids and thread_id are mutually exclusive', [
        { path: 'thread_id', given: givenAs(threadId) },
      ])
    const count = await services.entries.delete(
      principal,
      ids ? { ids } : { threadIds: [checkThreadId(threadId ?? '')] },
    )
    return { success: true, deleted_count: count, message: `Successfully deleted ${count} context entries` }
  },
})
