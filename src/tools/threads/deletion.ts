import * as z from 'zod'
import type { DeleteSelection, Erased } from '../../domain/entry/selection'
import { MOST_DELETED } from '../../domain/identity/audit'
import { note } from '../../domain/receipts/notes'
import type { Trace } from '../../domain/receipts/receipt'
import type { Millis } from '../../domain/time'
import type { ToolContext } from '../context'
import { flag, listOf } from '../fields'
import type { Result } from '../idempotency'

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

interface Took {
  readonly count: number
  /** How many are left for the same call; null where nobody has counted. */
  readonly remaining: number | null
  /** Whether it was made under a key, which another call with the same arguments must not use. */
  readonly keyed: boolean
  /** Warnings about unknown threads, where nothing was deleted. */
  readonly missing: readonly string[]
}

export type DeletionFacts =
  | (Took & { readonly did: 'delete'; readonly changeId: string; readonly until: Millis | null })
  | (Took & Erased & { readonly did: 'erase' })
  | (Pick<Took, 'count' | 'missing'> & { readonly did: 'look'; readonly ids: readonly number[] })

interface Asked {
  readonly dry_run: boolean
  readonly erase?: boolean
}

/** Deletes, erases, or looks what would go. */
export async function carryOutDeletion(
  context: ToolContext,
  selection: DeleteSelection,
  { dry_run: looks, erase = false }: Asked,
): Promise<DeletionFacts> {
  const { services, principal } = context
  const { deleteEntries } = services
  if (looks) {
    const { count, ids } = await deleteEntries.look(principal, selection, erase)
    return {
      did: 'look',
      count,
      ids: [...ids],
      missing: count > 0 ? [] : await deleteEntries.unknownThreads(principal, selection.threadIds ?? []),
    }
  }
  const common = { keyed: principal.receipt !== undefined, remaining: null, missing: [] }
  return countLeft(
    context,
    selection,
    erase
      ? { did: 'erase', ...common, ...(await deleteEntries.erase(principal, selection)) }
      : {
          ...{ did: 'delete', ...common, changeId: principal.changeId },
          ...(await deleteEntries.delete(principal, selection)),
        },
  )
}

/** Counts what a call has left, which is known behind its write alone. */
export async function countLeft(
  { services, principal }: ToolContext,
  selection: DeleteSelection,
  facts: DeletionFacts,
): Promise<DeletionFacts> {
  if (facts.did === 'look') return facts
  const { count, did } = facts
  const remaining = await services.deleteEntries.remaining(principal, selection, count, did === 'erase')
  if (count >= MOST_DELETED) note(principal, 'remaining', remaining)
  if (count > 0) return { ...facts, remaining }
  const missing = await services.deleteEntries.unknownThreads(principal, selection.threadIds ?? [])
  if (missing.length > 0) note(principal, 'missing', missing)
  return { ...facts, remaining, missing }
}

/** Whether a call died before it had counted what it left. */
export const isUncounted = (facts: DeletionFacts): boolean => facts.did !== 'look' && facts.remaining === null

/** What a call has deleted or erased that was carried out before. */
export function deletedBefore({ changes, changeId, output, notes }: Trace): DeletionFacts {
  const count = output.erased?.count ?? changes
  const { until = null, missing = [] } = notes as { until?: Millis | null; missing?: string[] }
  const common = { keyed: true, remaining: count < MOST_DELETED ? 0 : null, missing }
  return output.erased
    ? { did: 'erase', ...common, ...output.erased }
    : { did: 'delete', ...common, count, changeId, until }
}

const NOTHING = 'Nothing was deleted: no entry matches that you may change'

/**
 * Where nothing was deleted there is nothing to undo, and the answer is the same whether what was named is of others or never was. One
 * call takes so many at most, and the same call goes on.
 */
export function tellDeletion(facts: DeletionFacts): Result {
  const { did, count } = facts
  const warnings = count > 0 ? {} : { warnings: facts.missing.length > 0 ? facts.missing : [NOTHING] }
  if (did === 'look') return { success: true, dry_run: true, would_delete: count, context_ids: facts.ids, ...warnings }
  const remaining = facts.remaining ?? 0
  const again = facts.keyed ? 'under another idempotency_key' : 'made again'
  const more = remaining === 0 ? '' : `; ${remaining} are left for the same call ${again}`
  const stays = did === 'delete' || facts.left === 0 ? '' : `; ${facts.left} are not yours to change and stay`
  return {
    success: true,
    deleted_count: count,
    message: `Successfully ${did}d ${count} context entries${more}${stays}`,
    ...(remaining === 0 ? {} : { remaining }),
    ...(did === 'delete' ? tellUndoing(facts) : {}),
    ...(did === 'erase'
      ? { archived_count: facts.archived, deleted_before_count: facts.before, left_count: facts.left }
      : {}),
    ...warnings,
  }
}

/** What `restore_context` takes to undo a delete, and until when. */
const tellUndoing = ({ count, changeId, until }: Extract<DeletionFacts, { readonly did: 'delete' }>) => ({
  ...(count === 0 ? {} : { change_id: changeId }),
  ...(count === 0 || until === null ? {} : { restorable_until: new Date(until).toISOString() }),
})

/** Whether a call took anything. */
export const tookSome = (facts: DeletionFacts): boolean => facts.did !== 'look' && facts.count !== 0
