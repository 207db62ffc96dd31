import { z } from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import { invalidInput } from '../../domain/errors'
import { givenAs } from '../../domain/flaws'
import { defineTool } from '../define-tool'
import { contextIds, expectedVersion, flag, output, threadId as thread } from '../fields'
import { deleteAll, deletedOutput, dryRun, eraseAll, wouldDelete } from './deletion'
import { threads } from './family'

export const deleteContext = defineTool({
  family: threads,
  name: 'delete_context',
  title: 'Delete context',
  description: 'Delete entries by id, or a whole thread. What does not exist counts 0.',
  effect: 'delete',
  input: z.strictObject({
    context_ids: contextIds('Entries to delete').min(1).optional(),
    thread_id: thread('Or every entry of this thread').optional(),
    expected_version: expectedVersion,
    dry_run: dryRun,
    erase: flag(false, 'For good, with history'),
  }),
  output: output(deletedOutput),
  isCostly: () => false,
  leavesWork: (_, { deleted_count }) => deleted_count !== 0,
  async handler(context, args) {
    const { context_ids: ids, thread_id: threadId, expected_version: expected } = args
    if (ids === undefined && threadId === undefined)
      throw invalidInput('Must provide either context_ids or thread_id', [{ path: 'context_ids', given: 'nothing' }])
    if (ids !== undefined && threadId !== undefined)
      throw invalidInput('context_ids and thread_id are mutually exclusive', [
        { path: 'thread_id', given: givenAs(threadId) },
      ])
    if (expected !== undefined && new Set(ids ?? []).size !== 1)
      throw invalidInput('expected_version goes with exactly one id in context_ids', [
        { path: 'expected_version', given: givenAs(expected) },
      ])
    const selection = {
      ...(ids ? { ids } : { threadIds: [checkThreadId(threadId ?? '')] }),
      ...(expected === undefined ? {} : { expectedVersion: expected }),
    }
    if (args.dry_run) return wouldDelete(context, selection, args.erase)
    return args.erase ? eraseAll(context, selection) : deleteAll(context, selection)
  },
})
