import * as z from 'zod'
import { outcomesOf, storedOutcomes } from '../../services/outcome'
import { defineWritingTool } from '../define-writing-tool'
import { flag } from '../fields'
import { storedFromReceipt } from '../receipt-outcomes'
import { atomicFailure, batchOutput, batchResult, failedItem, listedBatch, looseItems, readItems } from './batch'
import { threads } from './family'
import { storeArguments, toDraft } from './store-context'

const ATOMIC = 'false: store valid ones'

export const storeContextBatch = defineWritingTool({
  family: threads,
  name: 'store_context_batch',
  title: 'Store several contexts',
  description: 'Store up to 100 memories, in order, all or nothing unless atomic is false.',
  effect: 'store',
  example: {
    entries: [
      { thread_id: 'release-1.4', source: 'user', text: 'Which tests are flaky?' },
      {
        thread_id: 'night-run',
        source: 'agent',
        text: '# Monday\n312 tests passed.\n# Tuesday\nThe ledger timed out.',
      },
    ],
  },
  promise: 'THREADS-62',
  budget: { tokens: 260, trips: 3, reads: [126, 126], writes: 54 },
  input: z.strictObject({ entries: looseItems, atomic: flag(true, ATOMIC) }),
  listed: () => listedBatch('entries', storeArguments, 'store_context', ATOMIC),
  output: batchOutput(),
  async work(context, args) {
    const { services, principal } = context
    const drafts = await readItems(args.entries, storeArguments, toDraft, context)
    const outcomes = await services.storeEntries(principal, drafts, { atomic: args.atomic, dedupe: true })
    if (args.atomic) {
      const failure = atomicFailure(
        'entries',
        outcomes,
        (index) => `at index ${index}`,
        () => null,
      )
      if (failure) throw failure
    }
    return storedOutcomes(outcomes)
  },
  recall: storedFromReceipt,
  answer(kept) {
    const outcomes = outcomesOf(kept)
    const results = outcomes.map((outcome, index) =>
      outcome.ok
        ? { index, success: true, context_id: outcome.value?.id ?? null, error: null, code: null }
        : failedItem('entries', index, null, outcome.problem),
    )
    return batchResult('Stored', outcomes, results)
  },
})
