import { z } from 'zod'
import { notFound, unavailable } from '../domain/errors'
import { digestOf } from '../domain/history/digest'
import { checkKey, checkSameCall, KeyTaken, type Receipt } from '../domain/history/receipt'
import type { Caller } from '../domain/scope'
import type { ToolContext } from './context'
import { by } from './fields'

/** Every tool that writes takes a key under which the same call, made again, is answered as at first (history contract §2). */
export const idempotencyKey = z
  .string()
  .superRefine(by(checkKey))
  .optional()
  .meta({ description: 'Makes retries safe' })

type Result = Record<string, unknown>
type Run = (caller: Caller) => Promise<Result>

/** What a call answers, and whether it did anything. */
export interface Carried {
  readonly result: Result
  readonly replayed: boolean
}

/** Answers from a receipt. Where the first call was stopped before it could answer, its answer is made from what it did. */
async function replay({ principal, services }: ToolContext, receipt: Receipt, run: Run): Promise<Carried> {
  const { key, digest, effect, changes } = receipt
  const caller = { ...principal, changeId: receipt.changeId, receipt: { key, digest } }
  if (receipt.erased) throw notFound('What this call was about has been erased since')
  const answer =
    receipt.answer ??
    (
      await services.receipts.complete(caller, {
        key,
        // It did its work under its own name, which its answer may tell (change_id).
        answer: await run({ ...principal, changeId: receipt.changeId, done: { effect, changes } }),
      })
    ).answer
  return { result: { ...answer, replayed: true }, replayed: true }
}

interface KeyedCall {
  readonly key: string
  /** As parsed, without the key. */
  readonly args: unknown
  /**
   * Whether a receipt is looked for before anything is done: for calls that ask a model or put images, which a repeated one must
   * not. The batch of any other is refused by its own guard, and so it costs no round trip before it.
   */
  readonly looksFirst: boolean
}

/**
 * Carries a call out once for its key: its write keeps the receipt in the same round trip, and its answer, which tells ids and
 * versions that only the write has made, is added by a second one.
 *
 * @param run the call; its writes keep the receipt in their own batch
 * @throws Problem conflict when the key belongs to another call, not_found when what it was about was erased
 */
export async function carryOutOnce(
  context: ToolContext,
  { key, args, looksFirst }: KeyedCall,
  run: Run,
): Promise<Carried> {
  const { services, principal } = context
  const digest = await digestOf(args)
  const again = async (receipt: Receipt): Promise<Carried> => {
    checkSameCall(receipt, { tool: principal.action, digest })
    return replay(context, receipt, run)
  }
  const known = looksFirst ? await services.receipts.find(principal, key) : null
  if (known !== null) return again(known)
  const caller = { ...principal, receipt: { key, digest } }
  try {
    const result = await run(caller)
    const receipt = await services.receipts.complete(caller, { key, answer: result })
    return receipt.changeId === caller.changeId ? { result: receipt.answer ?? result, replayed: false } : again(receipt)
  } catch (error) {
    // The same call may have been made at this moment, and be the very reason why this one fails (the version is another).
    const first = await services.receipts.find(principal, key)
    if (first !== null) return again(first)
    if (error instanceof KeyTaken)
      throw unavailable('Another call with this idempotency_key ends at this moment; try again')
    throw error
  }
}
