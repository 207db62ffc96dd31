// How is a call that writes carried out once for its key, and answered again without being carried out?
import * as z from 'zod'
import { notFound, Problem, unavailable } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { digestOf } from '../domain/receipts/digest'
import { KeyTaken, Notes } from '../domain/receipts/notes'
import { checkKey, checkSameCall, type Receipt, type Trace } from '../domain/receipts/receipt'
import type { Services } from '../services/services'
import { by } from './fields'
import { isRecord } from './record'

/** Every tool that writes takes a key under which the same call, made again, is answered as at first (history contract §2). */
export const idempotencyKey = z
  .string()
  .superRefine(by(checkKey))
  .optional()
  .meta({ description: 'Makes retries safe' })

export type Result = Record<string, unknown>

/** A call that writes: what it does, what it finds out, and how its answer is made of that alone. */
export interface Writing<Facts> {
  /** Does the call; its writes keep the receipt in their own batch. */
  readonly work: (caller: Caller) => Promise<Facts>
  /** The same facts, read from its receipt, where the batch of its write alone is there. Enters no service. */
  readonly recall: (trace: Trace) => Facts
  /** Made of the facts, and where it is made again of what the call had noted before its write. */
  readonly answer: (facts: Facts, noted?: Trace['notes']) => Result
  /** What a call does behind its write, for one whose server died before it. */
  readonly unfinished?: Unfinished<Facts> | undefined
}

interface Unfinished<Facts> {
  readonly when: (facts: Facts) => boolean
  readonly finish: (caller: Caller, facts: Facts) => Promise<Facts>
}

/** What a call answers, and whether it did anything. */
export interface Carried<Facts> {
  readonly result: Result
  readonly replayed: boolean
  /** Null where it was made again. */
  readonly facts: Facts | null
}

interface KeyedCall {
  readonly principal: Caller
  readonly services: Pick<Services, 'receipts'>
  readonly key: string
  /** As parsed, without the key. */
  readonly args: unknown
  /**
   * Whether a receipt is looked for before anything is done: for calls that ask a model or put images, which a repeated one must
   * not. The batch of any other is refused by its own guard, and so it costs no round trip before it.
   */
  readonly looksFirst: boolean
}

const OLDER = 'An earlier release carried out this call without storing its answer. Read what it wrote'
const GONE = 'The entries of this call have been erased since'

/** Carries a call out that gave no key. */
export async function carryOut<Facts>(caller: Caller, { work, answer }: Writing<Facts>): Promise<Carried<Facts>> {
  const facts = await work(caller)
  return { facts, result: answer(facts), replayed: false }
}

/** A stored answer. @throws Problem conflict for one that an earlier release has kept in another form */
function answerOf(kept: unknown): Carried<never> {
  if (!isRecord(kept) || !isRecord(kept.result)) throw new Problem('conflict', OLDER, { retryable: false })
  return again(kept.result)
}

const again = (result: Result): Carried<never> => ({
  ...{ result: { ...result, replayed: true }, replayed: true, facts: null },
})

/** Answers from a receipt. What the call did not come to after its write is done now, and then its answer is kept. */
async function replay<Facts>({ principal, services }: KeyedCall, receipt: Receipt, writing: Writing<Facts>) {
  const { key, digest, changeId, erased, answer, notes } = receipt
  if (erased) throw notFound(GONE)
  if (answer !== null) return answerOf(answer)
  const facts = writing.recall(receipt)
  if (writing.unfinished?.when(facts) !== true) return again(writing.answer(facts, notes))
  // It goes on under the name of the call.
  const caller = { ...principal, changeId, receipt: { key, digest, notes: new Notes() } }
  const result = writing.answer(await writing.unfinished.finish(caller, facts), notes)
  const kept = await services.receipts.complete(caller, { key, answer: { result } })
  if (kept.erased) throw notFound(GONE)
  return answerOf(kept.answer)
}

/**
 * Carries a call out once for its key: its write keeps a receipt with all that its facts are read from, in the same round trip. One more
 * keeps the answer itself where the call wrote nothing, or found out more after its write.
 *
 * @throws Problem conflict when the key belongs to another call, not_found when what it was about was erased
 */
export async function carryOutOnce<Facts>(call: KeyedCall, writing: Writing<Facts>): Promise<Carried<Facts>> {
  const { services, principal, key } = call
  const digest = await digestOf(call.args)
  const replayed = async (receipt: Receipt): Promise<Carried<Facts>> => {
    checkSameCall(receipt, { tool: principal.action, digest })
    return replay(call, receipt, writing)
  }
  const known = call.looksFirst ? await services.receipts.find(principal, key) : null
  if (known !== null) return replayed(known)
  const notes = new Notes()
  const caller = { ...principal, receipt: { key, digest, notes } }
  try {
    const facts = await writing.work(caller)
    const result = writing.answer(facts)
    // What failed without a throw, and wrote nothing, may be tried again.
    if (notes.isWhole || (!notes.isKept && result.success === false)) return { facts, result, replayed: false }
    const receipt = await services.receipts.complete(caller, { key, answer: { result } })
    return receipt.changeId === caller.changeId ? { facts, result, replayed: false } : replayed(receipt)
  } catch (error) {
    // The same call may have been made at this moment, and be the very reason why this one fails (the version is another).
    const first = await services.receipts.find(principal, key)
    if (first !== null) return replayed(first)
    if (error instanceof KeyTaken) throw unavailable('Another call with this idempotency_key is finishing; try again')
    throw error
  }
}
