import { z } from 'zod'
import { restorableUntil } from '../../domain/history/terms'
import { MOST_DELETED } from '../../domain/identity/audit'
import { once } from '../../domain/receipts/receipt'
import type { CallContext } from '../context'
import { flag, listOf } from '../fields'

type Selection = Parameters<CallContext['services']['entries']['wouldDelete']>[1]

/** What the tools that delete have in common (history contract §3). */
export const dryRun = flag(false, 'Only count')

export const deletedOutput = {
  success: z.boolean(),
  deleted_count: z.int(),
  message: z.string(),
  remaining: z.int(),
  change_id: z.string(),
  restorable_until: z.string(),
  archived_count: z.int(),
  deleted_before_count: z.int(),
  left_count: z.int(),
  dry_run: z.boolean(),
  would_delete: z.int(),
  context_ids: listOf(z.int(), 'Id'),
}

/**
 * Deletes, and answers with what `restore_context` takes to undo it. Where nothing was deleted there is nothing to undo, and the
 * answer is the same whether what was named is of others or never was.
 */
export async function deleteAll({ services, principal, config }: CallContext, selection: Selection) {
  const until = await once(principal, 'until', () => restorableUntil(config.history, services.now()))
  const count = await services.entries.delete(principal, selection)
  return {
    ...(await removed(services, principal, selection, { count, verb: 'deleted' })),
    ...(count === 0 ? {} : { change_id: principal.changeId }),
    ...(count === 0 || until === null ? {} : { restorable_until: new Date(until).toISOString() }),
  }
}

export async function eraseAll({ services, principal }: CallContext, selection: Selection) {
  const { count, archived, before, left } = await services.entries.erase(principal, selection)
  const told = await removed(services, principal, selection, { count, verb: 'erased' })
  const stays = left === 0 ? '' : `; ${left} are not yours to change and stay`
  return {
    ...told,
    message: `${told.message}${stays}`,
    ...{ archived_count: archived, deleted_before_count: before, left_count: left },
  }
}

/** What both tell; one call takes so many at most, and the same call goes on. */
async function removed(
  services: CallContext['services'],
  principal: CallContext['principal'],
  selection: Selection,
  { count, verb }: { readonly count: number; readonly verb: 'deleted' | 'erased' },
) {
  const left = async () => (await services.entries.wouldDelete(principal, selection, verb === 'erased')).count
  const remaining = count < MOST_DELETED ? 0 : await once(principal, 'remaining', left)
  const again = principal.receipt === undefined ? 'made again' : 'under another idempotency_key'
  const more = remaining === 0 ? '' : `; ${remaining} are left for the same call ${again}`
  return {
    success: true,
    deleted_count: count,
    message: `Successfully ${verb} ${count} context entries${more}`,
    ...(remaining === 0 ? {} : { remaining }),
  }
}

export async function wouldDelete({ services, principal }: CallContext, selection: Selection, erases = false) {
  const { count, ids } = await services.entries.wouldDelete(principal, selection, erases)
  return { success: true, dry_run: true, would_delete: count, context_ids: ids }
}
