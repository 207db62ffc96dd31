import * as z from 'zod'
import { readId } from '../../domain/entry/link'
import { outcomesOf, storedOutcomes } from '../../services/outcome'
import { defineWritingTool } from '../define-writing-tool'
import { flag, listOf } from '../fields'
import { updatedFromReceipt } from '../receipt-outcomes'
import { isRecord } from '../record'
import { atomicFailure, batchOutput, batchResult, failedItem, listedBatch, looseItems, readItems } from './batch'
import { threads } from './family'
import { toUpdate, updateArguments } from './update-context'

const ATOMIC = 'false: apply valid ones'

/** Returns a function for the entry ID of each item; null if the item has none. */
function idsOf(items: readonly unknown[]): (index: number) => number | null {
  const ids = items.map((item) => (isRecord(item) ? readId(item.context_id) : null))
  return (index) => ids[index] ?? null
}

export const updateContextBatch = defineWritingTool({
  family: threads,
  name: 'update_context_batch',
  title: 'Update several contexts',
  description:
    'Apply up to 100 updates, in order, all or nothing unless atomic is false. One entry may occur several times.',
  effect: 'change',
  example: { updates: [{ context_id: 2, tags: ['question'] }] },
  promise: 'THREADS-62',
  budget: { tokens: 310, trips: 4, reads: [195, 195], writes: 71 },
  input: z.strictObject({ updates: looseItems, atomic: flag(true, ATOMIC) }),
  listed: () => listedBatch('updates', updateArguments, 'update_context', ATOMIC),
  output: batchOutput({ updated_fields: listOf(z.string(), 'Field').nullable() }),
  queuesWork: ({ updates }) => updates.some((item) => isRecord(item) && ('images' in item || 'text' in item)),
  async work(context, args) {
    const { services, principal } = context
    const updates = await readItems(args.updates, updateArguments, toUpdate, context)
    const idAt = idsOf(args.updates)
    const outcomes = await services.updateEntries(principal, updates, args.atomic)
    if (args.atomic) {
      const place = (index: number) =>
        idAt(index) === null ? `at index ${index}` : `at context_id ${String(idAt(index))}`
      const failure = atomicFailure('updates', outcomes, place, idAt)
      if (failure) throw failure
    }
    return storedOutcomes(outcomes)
  },
  recall: updatedFromReceipt,
  answer(kept, args) {
    const idAt = idsOf(args.updates)
    const outcomes = outcomesOf(kept)
    const results = outcomes.map((outcome, index) =>
      outcome.ok
        ? {
            index,
            context_id: idAt(index),
            success: true,
            updated_fields: outcome.value?.updatedFields ?? null,
            error: null,
            code: null,
          }
        : failedItem('updates', index, idAt(index), outcome.problem),
    )
    return batchResult('Updated', outcomes, results)
  },
})
