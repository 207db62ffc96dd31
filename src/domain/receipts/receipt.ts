import type { Erased } from '../entry/selection'
import { invalidInput, Problem } from '../errors'
import type { Shown } from '../recall/memory'

/** Receipts of calls with an idempotency key (history contract §2). */

/** Entries with the versions that a call created, in order. */
type Effect = readonly (readonly [id: number, version: number])[]

/** Facts for the answer that only the batch of a write knows. */
export interface BatchOutput {
  /** IDs of existing entries with a summary that a store matched. */
  readonly summarized?: readonly number[]
  readonly erased?: Erased
  /** The one entry that was changed, after the change. */
  readonly shown?: Shown
}

/** The stored facts of a call. Its answer is computed from them and the arguments. */
export interface Trace {
  /** Shared by all changes of the call. */
  readonly changeId: string
  /**
   * [entry, version] of each change, in order. A deletion has a negative version; an entry that the answer only
   * mentions has 0. At most the first thousand.
   */
  readonly effect: Effect
  /** Number of changes. */
  readonly changes: number
  readonly output: BatchOutput
  /** Facts noted before the batch, by name. */
  readonly notes: Readonly<Record<string, unknown>>
  /** A text that the answer contains and the arguments do not. */
  readonly text: string | null
}

/** The stored result of the first successful call with an idempotency key. */
export interface Receipt extends Trace {
  readonly key: string
  /** Digest of the arguments. */
  readonly digest: string
  readonly tool: string
  /** The stored answer of a call that wrote nothing, or that noted facts after its write; else null. */
  readonly answer: unknown
  /** Whether an entry that it concerns was erased. */
  readonly erased: boolean
}

/** An entry that a call stored or matched, as its receipt records it. */
export interface SavedBefore {
  readonly id: number
  readonly version: number
  readonly isNew: boolean
  readonly summarized: boolean
  readonly evicted: readonly number[]
}

/** Entries that a call stored or matched, in order; each with the evictions of the call. */
export function savedBy({ effect, output }: Trace): SavedBefore[] {
  const evicted = effect.filter(([, version]) => version < 0).map(([id]) => id)
  const summarized = new Set(output.summarized)
  return effect
    .filter(([, version]) => version > 0)
    .map(([id, version]) => ({ id, version, isNew: version === 1, summarized: summarized.has(id), evicted }))
}

const KEY = /^[\x21-\x7e]{1,128}$/

/** Checks an idempotency key. @throws Problem invalid_input */
export function checkKey(key: string): string {
  if (KEY.test(key)) return key
  throw invalidInput('idempotency_key must be 1 to 128 visible ASCII characters, such as a UUID')
}

/** Checks that a receipt belongs to this call. @throws Problem conflict for another tool or other arguments */
export function checkSameCall(
  { tool, digest }: Pick<Receipt, 'tool' | 'digest'>,
  now: { readonly tool: string; readonly digest: string },
): void {
  if (tool === now.tool && digest === now.digest) return
  const other = tool === now.tool ? 'with other arguments' : `of ${tool}`
  throw new Problem(
    'conflict',
    `This idempotency_key belongs to an earlier call ${other}. Use a new idempotency_key for this call`,
    { retryable: false },
  )
}
