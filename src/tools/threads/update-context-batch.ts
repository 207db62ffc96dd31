import { z } from 'zod'
import { readId } from '../../domain/link'
import { defineTool } from '../define-tool'
import { flag, output } from '../fields'
import { isRecord } from '../lenient'
import { atomicFailure, batchResult, failedItem, itemOutput, looseItems, readItems } from './batch'
import { threads } from './family'
import { toUpdate, updateArguments } from './update-context'

const atomic = flag(true, 'true: one bad update changes nothing; false: the good ones are applied')

export const updateContextBatch = defineTool({
  family: threads,
  name: 'update_context_batch',
  title: 'Update several contexts',
  description:
    'Apply up to 100 updates in order; one entry may occur several times. By default all or nothing; with atomic=false the good ones are applied and the results say what was wrong with the others.',
  effect: 'change',
  input: z.strictObject({ updates: looseItems, atomic }),
  listed: z.strictObject({
    updates: z
      .array(updateArguments)
      .min(1)
      .max(100)
      .meta({ description: 'Updates with the arguments of update_context' }),
    atomic,
  }),
  output: output({
    success: z.boolean(),
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    results: z.array(itemOutput.extend({ updated_fields: z.array(z.string()).nullable().optional() })),
    message: z.string(),
  }),
  leavesWork: ({ updates }) => updates.some((item) => isRecord(item) && ('images' in item || 'text' in item)),
  async handler({ services, principal }, args) {
    const updates = await readItems(args.updates, updateArguments, toUpdate)
    const ids = args.updates.map((item) => (isRecord(item) ? readId(item.context_id) : null))
    const idAt = (index: number): number | null => ids[index] ?? null
    const outcomes = await services.updateEntries(principal, updates, args.atomic)
    if (args.atomic) {
      const place = (index: number) =>
        idAt(index) === null ? `at index ${index}` : `at context_id ${String(idAt(index))}`
      const failure = atomicFailure(outcomes, place, idAt)
      if (failure) throw failure
    }
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
        : { ...failedItem(index, idAt(index), outcome.problem), updated_fields: null },
    )
    return batchResult('Updated', outcomes, results)
  },
})
