import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import type { DeleteSelection } from '../../domain/entry/selection'
import { invalidInput } from '../../domain/errors'
import { DAY_MS, type Millis } from '../../domain/time'
import { defineWritingTool } from '../define-writing-tool'
import { contextIds, output, source, strings, threadIds } from '../fields'
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
  context_ids: contextIds('Among these entries').optional(),
  thread_ids: threadIds('In these threads').optional(),
  source: source('By this source, with another criterion').optional(),
  older_than_days: z.int().min(1).max(36_500).optional().meta({ description: 'Created longer ago' }),
  dry_run: dryRun,
})

export const deleteContextBatch = defineWritingTool({
  family: threads,
  name: 'delete_context_batch',
  title: 'Delete contexts by criteria',
  description: 'Delete what fulfils every given criterion.',
  effect: 'delete',
  example: { thread_ids: ['night-run'], source: 'agent' },
  promise: 'THREADS-65',
  budget: { tokens: 190, trips: 3, reads: [695, 2_800], writes: 4 },
  input,
  output: output({ ...deletedOutput, criteria_used: strings('Criterion') }),
  isCostly: () => false,
  queuesWork: (_, facts) => tookSome(facts),
  work: (context, args) => carryOutDeletion(context, selectionOf(args, context.services.now()), args),
  recall: deletedBefore,
  answer: (facts, args) => ({ ...tellDeletion(facts), ...(facts.did === 'look' ? {} : { criteria_used: tell(args) }) }),
  unfinished: {
    when: isUncounted,
    finish: (context, args, facts) => countLeft(context, selectionOf(args, context.services.now()), facts),
  },
})

/** What was given; an empty list is none. */
const criteria = ({ context_ids, thread_ids, source: by, older_than_days: days }: z.output<typeof input>) => ({
  ids: context_ids?.length ? context_ids : undefined,
  threadIds: thread_ids?.length ? thread_ids.map(checkThreadId) : undefined,
  ...{ by, days },
})

/** @throws Problem invalid_input where too little is given to choose by */
function selectionOf(args: z.output<typeof input>, now: Millis): DeleteSelection {
  const { ids, threadIds, by, days } = criteria(args)
  if (!ids && !threadIds && by === undefined && days === undefined)
    throw invalidInput('At least one deletion criterion must be provided', [{ path: 'context_ids', given: 'nothing' }])
  if (!ids && !threadIds && days === undefined)
    throw invalidInput('source filter must be combined with another criterion', [
      { path: 'thread_ids', given: 'nothing' },
    ])
  return {
    ...(ids ? { ids } : {}),
    ...(threadIds ? { threadIds } : {}),
    ...(by ? { source: by } : {}),
    ...(days === undefined ? {} : { createdBefore: now - days * DAY_MS }),
  }
}

function tell(args: z.output<typeof input>): string[] {
  const { ids, threadIds, by, days } = criteria(args)
  return [
    ...(ids ? [`context_ids: ${ids.length} IDs`] : []),
    ...(threadIds ? [`thread_ids: ${threadIds.length} threads`] : []),
    ...(by ? [`source: ${by}`] : []),
    ...(days === undefined ? [] : [`older_than_days: ${days}`]),
  ]
}
