import { z } from 'zod'
import { notFound, unavailable } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { digestOf } from '../domain/receipts/digest'
import { checkKey, checkSameCall, KeyTaken, Notes, type Receipt } from '../domain/receipts/receipt'
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

const GONE = 'What this call was about has been erased since'

/**
 * Answers from a receipt: as it stands there, or made from what the call did and noted. What it did not come to behind its write is
 * done now, and then the answer is kept.
 */
async function replay({ principal, services }: ToolContext, receipt: Receipt, run: Run): Promise<Carried> {
  const { key, digest, changeId, answer, notes, erased } = receipt
  if (erased) throw notFound(GONE)
  if (answer !== null) return { result: { ...answer, replayed: true }, replayed: true }
  const added = new Notes(true)
  // It did its work under its own name, which its answer may tell (change_id).
  const caller = {
    ...principal,
    changeId,
    receipt: { key, digest, notes: added },
    done: { ...receipt, notes: notes ?? {} },
  }
  const made = await run(caller)
  if (added.isWhole) return { result: { ...made, replayed: true }, replayed: true }
  const kept = await services.receipts.complete(caller, { key, answer: made })
  if (kept.erased) throw notFound(GONE)
  return { result: { ...kept.answer, replayed: true }, replayed: true }
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
 * Carries a call out once for its key: its write keeps a receipt with all that the answer is made of, in the same round trip. One more
 * keeps the answer itself where the call wrote nothing, or found out more behind its write.
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
  const notes = new Notes()
  const caller = { ...principal, receipt: { key, digest, notes } }
  try {
    const result = await run(caller)
    // What failed without a throw, and wrote nothing, may be tried again.
    if (notes.isWhole || (!notes.isKept && result.success === false)) return { result, replayed: false }
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
