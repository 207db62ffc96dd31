import * as z from 'zod'
import { notFound, Problem, unavailable } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { digestOf } from '../domain/receipts/arguments-digest'
import { KeyAlreadyUsed, Notes } from '../domain/receipts/notes'
import { checkKey, checkSameCall, type Receipt, type Trace } from '../domain/receipts/receipt'
import type { Services } from '../services/services'
import { by } from './fields'
import { isRecord } from './record'

/**
 * The argument that makes a call repeatable: the same call with the same key gets the first answer again (history contract §2).
 */
export const idempotencyKey = z
  .string()
  .superRefine(by(checkKey))
  .optional()
  .meta({ description: 'Makes retries safe' })

export type Result = Record<string, unknown>

/** The steps of a call that writes: its work, its outcomes, and an answer built only from outcomes. */
export interface Writing<Facts> {
  /** Executes the call. Its writes store the receipt in their own batch. */
  readonly work: (caller: Caller) => Promise<Facts>
  /** Reads the same outcomes from the receipt. Enters no service. */
  readonly recall: (trace: Trace) => Facts
  /** Builds the answer from the outcomes; for a repeated call, also from the notes in its receipt. */
  readonly answer: (facts: Facts, noted?: Trace['notes']) => Result
  /** Work after the write, which a retry finishes if the server stopped before it. */
  readonly unfinished?: Unfinished<Facts> | undefined
}

interface Unfinished<Facts> {
  readonly when: (facts: Facts) => boolean
  readonly finish: (caller: Caller, facts: Facts) => Promise<Facts>
}

/** The answer of a call, and whether it is a replay. */
export interface ExecutedCall<Facts> {
  readonly result: Result
  readonly replayed: boolean
  /** Null for a replay. */
  readonly facts: Facts | null
}

interface KeyedCall {
  readonly principal: Caller
  readonly services: Pick<Services, 'receipts'>
  readonly key: string
  /** Parsed arguments without the key. */
  readonly args: unknown
  /**
   * Whether to look for a receipt before the work: true for calls that ask a model or store images, which a repeated call must
   * not.
   *
   * For other calls, the precondition in their batch detects the receipt without an extra round trip.
   */
  readonly findsReceiptFirst: boolean
}

const OLDER = 'An earlier release carried out this call without storing its answer. Read what it wrote'
const GONE = 'The entries of this call have been erased since'

/** Executes a call without a key. */
export async function execute<Facts>(caller: Caller, { work, answer }: Writing<Facts>): Promise<ExecutedCall<Facts>> {
  const facts = await work(caller)
  return { facts, result: answer(facts), replayed: false }
}

/** Reads a stored answer. @throws Problem conflict if an earlier release stored it in another form */
function answerOf(kept: unknown): ExecutedCall<never> {
  if (!isRecord(kept) || !isRecord(kept.result)) throw new Problem('conflict', OLDER, { retryable: false })
  return again(kept.result)
}

const again = (result: Result): ExecutedCall<never> => ({
  ...{ result: { ...result, replayed: true }, replayed: true, facts: null },
})

/** Answers from a receipt. Work that the first call did not finish is finished now, and the answer is stored. */
async function replay<Facts>({ principal, services }: KeyedCall, receipt: Receipt, writing: Writing<Facts>) {
  const { key, digest, changeId, erased, answer, notes } = receipt
  if (erased) throw notFound(GONE)
  if (answer !== null) return answerOf(answer)
  const facts = writing.recall(receipt)
  if (writing.unfinished?.when(facts) !== true) return again(writing.answer(facts, notes))
  // The work continues under the identity of the first call.
  const caller = { ...principal, changeId, receipt: { key, digest, notes: new Notes() } }
  const result = writing.answer(await writing.unfinished.finish(caller, facts), notes)
  const kept = await services.receipts.complete(caller, { key, answer: { result } })
  if (kept.erased) throw notFound(GONE)
  return answerOf(kept.answer)
}

/**
 * Executes a call once for its key.
 *
 * The write stores a receipt with all outcomes in the same round trip. One more round trip stores the answer if the call wrote
 * nothing, or had outcomes after its write.
 *
 * @throws Problem conflict if the key belongs to another call, not_found if the entries of the call were erased
 */
export async function executeOnce<Facts>(call: KeyedCall, writing: Writing<Facts>): Promise<ExecutedCall<Facts>> {
  const { services, principal, key } = call
  const digest = await digestOf(call.args)
  const replayed = async (receipt: Receipt): Promise<ExecutedCall<Facts>> => {
    checkSameCall(receipt, { tool: principal.action, digest })
    return replay(call, receipt, writing)
  }
  const known = call.findsReceiptFirst ? await services.receipts.find(principal, key) : null
  if (known !== null) return replayed(known)
  const notes = new Notes()
  const caller = { ...principal, receipt: { key, digest, notes } }
  try {
    const facts = await writing.work(caller)
    const result = writing.answer(facts)
    // A call that failed without an exception and wrote nothing may be tried again.
    if (notes.isWhole || (!notes.isKept && result.success === false)) return { facts, result, replayed: false }
    const receipt = await services.receipts.complete(caller, { key, answer: { result } })
    return receipt.changeId === caller.changeId ? { facts, result, replayed: false } : replayed(receipt)
  } catch (error) {
    // The same call may run concurrently and be the reason for this failure, for example by a new version.
    const first = await services.receipts.find(principal, key)
    if (first !== null) return replayed(first)
    if (error instanceof KeyAlreadyUsed)
      throw unavailable('Another call with this idempotency_key is finishing; try again')
    throw error
  }
}
