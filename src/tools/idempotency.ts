// How is a call that writes carried out once for its key, and answered again without being carried out?
import * as z from 'zod'
import { notFound, unavailable } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { digestOf } from '../domain/receipts/digest'
import { KeyTaken, Notes } from '../domain/receipts/notes'
import { checkKey, checkSameCall, type Receipt, type Trace } from '../domain/receipts/receipt'
import type { Services } from '../services/services'
import { by } from './fields'

/** Every tool that writes takes a key under which the same call, made again, is answered as at first (history contract §2). */
export const idempotencyKey = z
  .string()
  .superRefine(by(checkKey))
  .optional()
  .meta({ description: 'Makes retries safe' })

export type Result = Record<string, unknown>

/** A call that writes: what it does, what it finds out, and how its answer is made of that alone. */
export interface Writing<Facts> {
  /** What it found out; JSON, as a receipt keeps it. */
  readonly facts: z.ZodType<Facts>
  /** Does the call; its writes keep the receipt in their own batch. */
  readonly work: (caller: Caller) => Promise<Facts>
  /** The same facts, read from what the call left in its receipt. Enters no service. */
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
  readonly facts: Facts
  readonly result: Result
  readonly replayed: boolean
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

const GONE = 'What this call was about has been erased since'

/** Carries a call out that gave no key. */
export async function carryOut<Facts>(caller: Caller, { work, answer }: Writing<Facts>): Promise<Carried<Facts>> {
  const facts = await work(caller)
  return { facts, result: answer(facts), replayed: false }
}

/** Answers from a receipt. What the call did not come to behind its write is done now, and then its facts are kept. */
async function replay<Facts>({ principal, services }: KeyedCall, receipt: Receipt, writing: Writing<Facts>) {
  const { key, digest, changeId, erased } = receipt
  if (erased) throw notFound(GONE)
  const carried = (facts: Facts): Carried<Facts> => {
    return { facts, result: { ...writing.answer(facts, receipt.notes), replayed: true }, replayed: true }
  }
  const facts = receipt.facts === null ? writing.recall(receipt) : writing.facts.parse(receipt.facts)
  if (writing.unfinished?.when(facts) !== true) return carried(facts)
  // It goes on under the name of the call.
  const caller = { ...principal, changeId, receipt: { key, digest, notes: new Notes() } }
  const whole = await writing.unfinished.finish(caller, facts)
  const kept = await services.receipts.complete(caller, { key, facts: whole })
  if (kept.erased) throw notFound(GONE)
  return carried(writing.facts.parse(kept.facts))
}

/**
 * Carries a call out once for its key: its write keeps a receipt with all that its facts are read from, in the same round trip. One more
 * keeps the facts themselves where the call wrote nothing, or found out more behind its write.
 *
 * @throws Problem conflict when the key belongs to another call, not_found when what it was about was erased
 */
export async function carryOutOnce<Facts>(call: KeyedCall, writing: Writing<Facts>): Promise<Carried<Facts>> {
  const { services, principal, key } = call
  const digest = await digestOf(call.args)
  const again = async (receipt: Receipt): Promise<Carried<Facts>> => {
    checkSameCall(receipt, { tool: principal.action, digest })
    return replay(call, receipt, writing)
  }
  const known = call.looksFirst ? await services.receipts.find(principal, key) : null
  if (known !== null) return again(known)
  const notes = new Notes()
  const caller = { ...principal, receipt: { key, digest, notes } }
  try {
    const facts = await writing.work(caller)
    const result = writing.answer(facts)
    // What failed without a throw, and wrote nothing, may be tried again.
    if (notes.isWhole || (!notes.isKept && result.success === false)) return { facts, result, replayed: false }
    const receipt = await services.receipts.complete(caller, { key, facts })
    return receipt.changeId === caller.changeId ? { facts, result, replayed: false } : again(receipt)
  } catch (error) {
    // The same call may have been made at this moment, and be the very reason why this one fails (the version is another).
    const first = await services.receipts.find(principal, key)
    if (first !== null) return again(first)
    if (error instanceof KeyTaken)
      throw unavailable('Another call with this idempotency_key ends at this moment; try again')
    throw error
  }
}
