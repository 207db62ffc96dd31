import { z } from 'zod'
import { restorableUntil } from '../../domain/history/terms'
import type { CallContext } from '../context'
import { flag, listOf } from '../fields'

type Selection = Parameters<CallContext['services']['entries']['wouldDelete']>[1]

/** What the tools that delete have in common (history contract §3). */
export const dryRun = flag(false, 'Only count')

export const deletedOutput = {
  success: z.boolean(),
  deleted_count: z.int(),
  message: z.string(),
  change_id: z.string(),
  restorable_until: z.string(),
  dry_run: z.boolean(),
  would_delete: z.int(),
  context_ids: listOf(z.int(), 'Id'),
}

/**
 * The answer to a delete, with what `restore_context` takes to undo it. Where nothing was deleted there is nothing to undo, and the
 * answer is the same whether what was named is of others or never was.
 */
export function deleted({ services, principal, config }: CallContext, count: number) {
  const until = restorableUntil(config.history, services.now())
  return {
    success: true,
    deleted_count: count,
    message: `Successfully deleted ${count} context entries`,
    ...(count === 0 ? {} : { change_id: principal.changeId }),
    ...(count === 0 || until === null ? {} : { restorable_until: new Date(until).toISOString() }),
  }
}

export async function wouldDelete({ services, principal }: CallContext, selection: Selection) {
  const { count, ids } = await services.entries.wouldDelete(principal, selection)
  return { success: true, dry_run: true, would_delete: count, context_ids: ids }
}
