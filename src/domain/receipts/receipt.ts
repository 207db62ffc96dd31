import type { Erased } from '../entry/selection'
import { invalidInput, Problem } from '../errors'
import type { Shown } from '../recall/memory'

/** Receipts of calls that may be made again (history contract §2). */

/** Entries and the versions that a call brought them to, in order. */
type Effect = readonly (readonly [id: number, version: number])[]

/** What only the batch of a write knew, and the answer of its call tells. */
export interface BatchOutput {
  /** Entries with a summary that a store has met again. */
  readonly summarized?: readonly number[]
  readonly erased?: Erased
  /** The one entry that was changed, as it stood after that. */
  readonly shown?: Shown
}

/** What a call has left in its receipt: the facts of its answer are read from this and its arguments. */
export interface Trace {
  /** Shared by all changes of the call. */
  readonly changeId: string
  /**
   * [entry, version] of what it did, in order; a deletion's version is negative, and that of an entry which the answer only tells of
   * is 0. Of thousands the first thousand.
   */
  readonly effect: Effect
  /** How many changes there were. */
  readonly changes: number
  readonly output: BatchOutput
  /** What it noted before its batch, by name. */
  readonly notes: Readonly<Record<string, unknown>>
  /** A text that its answer shows and its arguments do not hold. */
  readonly text: string | null
}

/** What is kept of the first successful call with a key. */
export interface Receipt extends Trace {
  readonly key: string
  /** Of the arguments. */
  readonly digest: string
  readonly tool: string
  /** The stored answer of a call that wrote nothing, or found out more after its write; else null. */
  readonly answer: unknown
  /** Whether an entry that it is about was erased. */
  readonly erased: boolean
}

/** An entry that a call has stored or met again, as its receipt knows it. */
export interface SavedBefore {
  readonly id: number
  readonly version: number
  readonly isNew: boolean
  readonly summarized: boolean
  readonly evicted: readonly number[]
}

/** Entries that a call has stored or met again, in order; evictions stand behind them. */
export function savedBy({ effect, output }: Trace): SavedBefore[] {
  const evicted = effect.filter(([, version]) => version < 0).map(([id]) => id)
  const summarized = new Set(output.summarized)
  return effect
    .filter(([, version]) => version > 0)
    .map(([id, version]) => ({ id, version, isNew: version === 1, summarized: summarized.has(id), evicted }))
}

const KEY = /^[\x21-\x7e]{1,128}$/

/** @throws Problem invalid_input */
export function checkKey(key: string): string {
  if (KEY.test(key)) return key
  throw invalidInput('idempotency_key must be 1 to 128 visible ASCII characters, such as a UUID')
}

/** @throws Problem conflict when the receipt is of another call */
export function checkSameCall(
  { tool, digest }: Pick<Receipt, 'tool' | 'digest'>,
  now: { readonly tool: string; readonly digest: string },
): void {
  if (tool === now.tool && digest === now.digest) return
  const other = tool === now.tool ? 'with other arguments' : `of ${tool}`
  throw new Problem(
    'conflict',
    `This idempotency_key belongs to an earlier call ${other}; use a new key for another call`,
    { retryable: false },
  )
}
