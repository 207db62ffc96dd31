import { z } from 'zod'
import { defineTool } from '../define-tool'
import { flag, output } from '../fields'
import { atomicFailure, batchResult, failedItem, itemOutput, looseItems, readItems } from './batch'
import { threads } from './family'
import { storeArguments, toDraft } from './store-context'

const atomic = flag(true, 'true: one bad entry stores none; false: the good ones are stored')

export const storeContextBatch = defineTool({
  family: threads,
  name: 'store_context_batch',
  title: 'Store several contexts',
  description:
    'Store up to 100 memories in one call, in order. By default all or nothing; with atomic=false the good entries are stored and the results say what was wrong with the others.',
  effect: 'store',
  input: z.strictObject({ entries: looseItems, atomic }),
  listed: z.strictObject({
    entries: z
      .array(storeArguments)
      .min(1)
      .max(100)
      .meta({ description: 'Entries with the arguments of store_context' }),
    atomic,
  }),
  output: output({
    success: z.boolean(),
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    results: z.array(itemOutput),
    message: z.string(),
  }),
  async handler({ services, principal }, args) {
    const drafts = await readItems(args.entries, storeArguments, toDraft)
    const outcomes = await services.storeEntries(principal, drafts, { atomic: args.atomic, dedupe: true })
    if (args.atomic) {
      const failure = atomicFailure(
        outcomes,
        (index) => `at index ${index}`,
        () => null,
      )
      if (failure) throw failure
    }
    const results = outcomes.map((outcome, index) =>
      outcome.ok
        ? { index, success: true, context_id: outcome.value?.id ?? null, error: null, code: null }
        : failedItem(index, null, outcome.problem),
    )
    return batchResult('Stored', outcomes, results)
  },
})
