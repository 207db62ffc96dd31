import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import type { DeleteSelection, Erased } from '../../domain/entry/selection'
import { invalidInput } from '../../domain/errors'
import { MOST_DELETED } from '../../domain/identity/audit'
import { note } from '../../domain/receipts/notes'
import type { Trace } from '../../domain/receipts/receipt'
import { DAY_MS, type Millis } from '../../domain/time'
import { givenAs } from '../../domain/validation'
import { askBeforeDeleting } from '../consent'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import {
  contextIds,
  expectedVersion,
  flag,
  listOf,
  output,
  source,
  strings,
  threadId as thread,
  threadIds,
} from '../fields'
import type { Result } from '../idempotency'
import { threads } from './family'

/** The `dry_run` argument of the tools that delete (history contract §3). */
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
  /** Number of entries left for another call; null if not counted yet. */
  readonly remaining: number | null
  /** Whether the call has a key, so that the next call needs another one. */
  readonly keyed: boolean
  /** Warnings about unknown threads, if nothing was deleted. */
  readonly missing: readonly string[]
}

export type DeletionOutcome =
  | (Took & { readonly did: 'delete'; readonly changeId: string; readonly until: Millis | null })
  | (Took & Erased & { readonly did: 'erase' })
  | (Pick<Took, 'count' | 'missing'> & { readonly did: 'look'; readonly ids: readonly number[] })

interface Asked {
  readonly dry_run: boolean
  readonly erase?: boolean
}

/** Deletes, erases, or lists the entries that would be deleted. @throws ConsentNeeded, Problem */
export async function executeDeletion(
  context: ToolContext,
  selection: DeleteSelection,
  { dry_run: looks, erase = false }: Asked,
): Promise<DeletionOutcome> {
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
  await askBeforeDeleting(context, selection, erase)
  const common = { keyed: principal.receipt !== undefined, remaining: null, missing: [] }
  return countRemaining(
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

/** Counts the entries that a call left, which is known only after its write. */
export async function countRemaining(
  { services, principal }: ToolContext,
  selection: DeleteSelection,
  facts: DeletionOutcome,
): Promise<DeletionOutcome> {
  if (facts.did === 'look') return facts
  const { count, did } = facts
  const remaining = await services.deleteEntries.remaining(principal, selection, count, did === 'erase')
  if (count >= MOST_DELETED) note(principal, 'remaining', remaining)
  if (count > 0) return { ...facts, remaining }
  const missing = await services.deleteEntries.unknownThreads(principal, selection.threadIds ?? [])
  if (missing.length > 0) note(principal, 'missing', missing)
  return { ...facts, remaining, missing }
}

/** Reports whether the server stopped before it counted the remaining entries. */
export const isUncounted = (facts: DeletionOutcome): boolean => facts.did !== 'look' && facts.remaining === null

/** Reads the outcome of a deletion from a receipt. */
export function deletionFromReceipt({ changes, changeId, output, notes }: Trace): DeletionOutcome {
  const count = output.erased?.count ?? changes
  const { until = null, missing = [] } = notes as { until?: Millis | null; missing?: string[] }
  const common = { keyed: true, remaining: count < MOST_DELETED ? 0 : null, missing }
  return output.erased
    ? { did: 'erase', ...common, ...output.erased }
    : { did: 'delete', ...common, count, changeId, until }
}

const NOTHING = 'Nothing was deleted: no matching entry that you can change'

/**
 * Builds the answer of a deletion.
 *
 * The answer does not reveal whether a missing entry belongs to another user. A call deletes a limited number, and the same call
 * continues.
 */
export function deletionAnswer(facts: DeletionOutcome): Result {
  const { did, count } = facts
  const warnings = count > 0 ? {} : { warnings: facts.missing.length > 0 ? facts.missing : [NOTHING] }
  if (did === 'look') return { success: true, dry_run: true, would_delete: count, context_ids: facts.ids, ...warnings }
  const remaining = facts.remaining ?? 0
  const again = facts.keyed ? 'under another idempotency_key' : 'made again'
  const more = remaining === 0 ? '' : `; ${remaining} are left for the same call ${again}`
  const stays = did === 'delete' || facts.left === 0 ? '' : `; ${facts.left} were left because you cannot change them`
  return {
    success: true,
    deleted_count: count,
    message: `Successfully ${did}d ${count} context entries${more}${stays}`,
    ...(remaining === 0 ? {} : { remaining }),
    ...(did === 'delete' ? undoMembers(facts) : {}),
    ...(did === 'erase'
      ? { archived_count: facts.archived, deleted_before_count: facts.before, left_count: facts.left }
      : {}),
    ...warnings,
  }
}

/** Returns the change ID for `restore_context`, and its deadline. */
const undoMembers = ({ count, changeId, until }: Extract<DeletionOutcome, { readonly did: 'delete' }>) => ({
  ...(count === 0 ? {} : { change_id: changeId }),
  ...(count === 0 || until === null ? {} : { restorable_until: new Date(until).toISOString() }),
})

/** Reports whether a call deleted anything. */
export const hasDeleted = (facts: DeletionOutcome): boolean => facts.did !== 'look' && facts.count !== 0

const input = z.strictObject({
  context_ids: contextIds('Entries to delete').min(1).optional(),
  thread_id: thread('Or every entry of this thread').optional(),
  expected_version: expectedVersion,
  dry_run: dryRun,
  erase: flag(false, 'Permanently, with history'),
})

export const deleteContext = defineWritingTool({
  family: threads,
  name: 'delete_context',
  title: 'Delete context',
  description: 'Delete entries by ID, or a full thread. Unknown IDs are ignored.',
  effect: 'delete',
  example: { context_ids: [2] },
  promise: 'THREADS-58',
  budget: { tokens: 180, trips: 3, reads: [1_210, 4_740], writes: 1_709 },
  input,
  output: output(deletedOutput),
  isCostly: () => false,
  queuesWork: (_, facts) => hasDeleted(facts),
  work: (context, args) => executeDeletion(context, selectionOf(args), args),
  recall: deletionFromReceipt,
  answer: deletionAnswer,
  unfinished: {
    when: isUncounted,
    finish: (context, args, facts) => countRemaining(context, selectionOf(args), facts),
  },
})

/** Reads the selection of a call. @throws Problem invalid_input unless exactly one of ids and thread is given */
function selectionOf(args: z.output<typeof input>): DeleteSelection {
  const { context_ids: ids, thread_id: threadId, expected_version: expected } = args
  if (ids === undefined && threadId === undefined)
    throw invalidInput('Must provide either context_ids or thread_id', [{ path: 'context_ids', given: 'nothing' }])
  if (ids !== undefined && threadId !== undefined)
    throw invalidInput('context_ids and thread_id are mutually exclusive', [
      { path: 'thread_id', given: givenAs(threadId) },
    ])
  if (expected !== undefined && new Set(ids ?? []).size !== 1)
    throw invalidInput('expected_version needs exactly one ID in context_ids', [
      { path: 'context_ids', given: givenAs(ids), example: [42] },
    ])
  return {
    ...(ids ? { ids } : { threadIds: [checkThreadId(threadId ?? '')] }),
    ...(expected === undefined ? {} : { expectedVersion: expected }),
  }
}

const batchInput = z.strictObject({
  context_ids: contextIds('Of these entries').optional(),
  thread_ids: threadIds('In these threads').optional(),
  source: source('Of this source, plus another criterion').optional(),
  older_than_days: z.int().min(1).max(36_500).optional().meta({ description: 'Created longer ago' }),
  dry_run: dryRun,
})

export const deleteContextBatch = defineWritingTool({
  family: threads,
  name: 'delete_context_batch',
  title: 'Delete contexts by criteria',
  description: 'Delete entries that meet all given criteria.',
  effect: 'delete',
  example: { thread_ids: ['night-run'], source: 'agent' },
  promise: 'THREADS-65',
  budget: { tokens: 190, trips: 3, reads: [695, 2_800], writes: 4 },
  input: batchInput,
  output: output({ ...deletedOutput, criteria_used: strings('Criterion') }),
  isCostly: () => false,
  queuesWork: (_, facts) => hasDeleted(facts),
  work: (context, args) => executeDeletion(context, batchSelectionOf(args, context.services.now()), args),
  recall: deletionFromReceipt,
  answer: (facts, args) => ({
    ...deletionAnswer(facts),
    ...(facts.did === 'look' ? {} : { criteria_used: criteriaUsed(args) }),
  }),
  unfinished: {
    when: isUncounted,
    finish: (context, args, facts) => countRemaining(context, batchSelectionOf(args, context.services.now()), facts),
  },
})

/** Returns the given criteria; an empty list counts as absent. */
const criteria = ({ context_ids, thread_ids, source: by, older_than_days: days }: z.output<typeof batchInput>) => ({
  ids: context_ids?.length ? context_ids : undefined,
  threadIds: thread_ids?.length ? thread_ids.map(checkThreadId) : undefined,
  ...{ by, days },
})

/** Reads the selection of a batch. @throws Problem invalid_input if the criteria are not sufficient */
function batchSelectionOf(args: z.output<typeof batchInput>, now: Millis): DeleteSelection {
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

function criteriaUsed(args: z.output<typeof batchInput>): string[] {
  const { ids, threadIds, by, days } = criteria(args)
  return [
    ...(ids ? [`context_ids: ${ids.length} IDs`] : []),
    ...(threadIds ? [`thread_ids: ${threadIds.length} threads`] : []),
    ...(by ? [`source: ${by}`] : []),
    ...(days === undefined ? [] : [`older_than_days: ${days}`]),
  ]
}
