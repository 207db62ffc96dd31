import { invalidInput, Problem } from '../errors'

/** Receipts of calls that may be made again (history contract §2). */

/** What a caller says of its call so that it can be known again. */
export interface ReceiptDraft {
  readonly key: string
  /** Of the arguments. */
  readonly digest: string
}

export type Effect = readonly (readonly [id: number, version: number])[]

/** What is kept of the first successful call with a key. */
export interface Receipt extends ReceiptDraft {
  readonly tool: string
  readonly changeId: string
  /** [entry, version] of what it did, in order, the first few hundred; a deletion's version is negative. */
  readonly effect: Effect
  /** How many there were. */
  readonly changes: number
  /** The structured content of its answer; null when it never came to answer. */
  readonly answer: Readonly<Record<string, unknown>> | null
  /** Whether an entry that it is about was erased. */
  readonly erased: boolean
}

/** Another call with the same key was first. */
export class KeyTaken extends Error {
  constructor() {
    super('another call with this idempotency_key was first')
    this.name = 'KeyTaken'
  }
}

/** What a call has done whose answer never came to be kept, because the server went away between. */
export interface Done {
  readonly effect: Effect
  readonly changes: number
}

/** Said where a lost answer cannot be made again. */
export const lostAnswer = ({ effect }: Done): Problem =>
  new Problem(
    'conflict',
    'This call was carried out, once, but its answer was lost; details name the entries, look at them before you go on',
    { retryable: false, details: { context_ids: [...new Set(effect.map(([id]) => id))] } },
  )

const KEY = /^[\x21-\x7e]{1,128}$/

/** @throws Problem invalid_input */
export function checkKey(key: string): string {
  if (KEY.test(key)) return key
  throw invalidInput('idempotency_key must be 1 to 128 visible ASCII characters, such as a UUID')
}

/** @throws Problem conflict when the receipt is of another call */
export function checkSameCall(
  { tool, digest }: Receipt,
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
