import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import type { DeleteSelection } from '../../domain/entry/selection'
import { invalidInput } from '../../domain/errors'
import { givenAs } from '../../domain/flaws'
import { defineWritingTool } from '../define-writing-tool'
import { contextIds, expectedVersion, flag, output, threadId as thread } from '../fields'
import {
  carryOutDeletion,
  countLeft,
  deletedBefore,
  deletedOutput,
  dryRun,
  isUncounted,
  tellDeletion,
  tookSome,
} from './deletion'
import { threads } from './family'

const input = z.strictObject({
  context_ids: contextIds('Entries to delete').min(1).optional(),
  thread_id: thread('Or every entry of this thread').optional(),
  expected_version: expectedVersion,
  dry_run: dryRun,
  erase: flag(false, 'For good, with history'),
})

export const deleteContext = defineWritingTool({
  family: threads,
  name: 'delete_context',
  title: 'Delete context',
  description: 'Delete entries by id, or a whole thread. Unknown IDs count 0.',
  effect: 'delete',
  example: { context_ids: [2] },
  promise: 'THREADS-58',
  budget: { tokens: 180, trips: 3, reads: [1_210, 4_740], writes: 1_709 },
  input,
  output: output(deletedOutput),
  isCostly: () => false,
  queuesWork: (_, facts) => tookSome(facts),
  work: (context, args) => carryOutDeletion(context, selectionOf(args), args),
  recall: deletedBefore,
  answer: tellDeletion,
  unfinished: {
    when: isUncounted,
    finish: (context, args, facts) => countLeft(context, selectionOf(args), facts),
  },
})

/** @throws Problem invalid_input unless exactly one of ids and thread is named */
function selectionOf(args: z.output<typeof input>): DeleteSelection {
  const { context_ids: ids, thread_id: threadId, expected_version: expected } = args
  if (ids === undefined && threadId === undefined)
    throw invalidInput('Must provide either context_ids or thread_id', [{ path: 'context_ids', given: 'nothing' }])
  if (ids !== undefined && threadId !== undefined)
    throw invalidInput('context_ids and thread_id are mutually exclusive', [
      { path: 'thread_id', given: givenAs(threadId) },
    ])
  if (expected !== undefined && new Set(ids ?? []).size !== 1)
    throw invalidInput('expected_version goes with exactly one id in context_ids', [
      { path: 'context_ids', given: givenAs(ids), example: [42] },
    ])
  return {
    ...(ids ? { ids } : { threadIds: [checkThreadId(threadId ?? '')] }),
    ...(expected === undefined ? {} : { expectedVersion: expected }),
  }
}
