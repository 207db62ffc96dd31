import { invalidInput, Problem } from '../errors'

/** Receipts of calls that may be made again (history contract §2). */

/** What a caller says of its call so that it can be known again. */
export interface ReceiptDraft {
  readonly key: string
  /** Of the arguments. */
  readonly digest: string
  /** What the call writes down for its answer. */
  readonly notes: Notes
}

export type Effect = readonly (readonly [id: number, version: number])[]

/** What is kept of the first successful call with a key. */
export interface Receipt extends Omit<ReceiptDraft, 'notes'>, Omit<Done, 'notes'> {
  readonly tool: string
  readonly changeId: string
  /** The structured content of its answer, where it stands there as it was given. */
  readonly answer: Readonly<Record<string, unknown>> | null
  /** Else what the answer is made of; null where the answer stands, or was erased. */
  readonly notes: Done['notes'] | null
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

/** What a call has done that is made again: its answer is made from this. */
export interface Done {
  /**
   * [entry, version] of what it did, in order; a deletion's version is negative, and that of an entry which the answer only tells of
   * is 0. Of thousands the first thousand.
   */
  readonly effect: Effect
  /** How many changes there were. */
  readonly changes: number
  /** What its batch told beside, as whoever made the batch has agreed with himself; null for nothing. */
  readonly told: unknown
  /** What it noted before its batch, by name. */
  readonly notes: Readonly<Record<string, unknown>>
  /** A text that its answer shows and its arguments do not hold. */
  readonly text: string | null
}

/**
 * What a call with a key finds out and its answer tells, beside what follows from its arguments. What stands here when its batch is
 * made is kept in it; what is noted later is in no receipt, so that the answer itself has to be kept by one more round trip.
 */
export class Notes {
  private readonly found: Record<string, unknown> = {}
  private state: 'open' | 'kept' | 'late'
  /** Entries whose words the answer tells, although the call does nothing to them: once one is erased, there is no answer any more. */
  mentioned: readonly number[] = []
  /** A text that the answer shows and the arguments do not hold. */
  text: string | null = null

  /** @param kept whether they belong to a call that was carried out before */
  constructor(kept = false) {
    this.state = kept ? 'kept' : 'open'
  }

  note(name: string, value: unknown): void {
    this.found[name] = value
    if (this.state === 'kept') this.state = 'late'
  }

  /** They are part of a batch that was committed. */
  keep(): void {
    this.state = 'kept'
  }

  get values(): Readonly<Record<string, unknown>> {
    return this.found
  }

  /** Whether the call has written anything. */
  get isKept(): boolean {
    return this.state !== 'open'
  }

  /** Whether the receipt has all that the answer is made of. */
  get isWhole(): boolean {
    return this.state === 'kept'
  }
}

/** Who makes a call, as far as its receipt is concerned. */
export interface Noting {
  readonly receipt?: ReceiptDraft
  readonly done?: Done
}

/** Notes what the answer of a call tells; nothing where the call has no key. */
export const note = (caller: Noting, name: string, value: unknown): void => caller.receipt?.notes.note(name, value)

/**
 * What a call finds out once: found and noted at first, and what was noted where the call is made again. It is found again where the
 * server died before it was.
 *
 * @param name of its own among the notes of the call
 * @param find what is JSON
 */
export async function once<T>(caller: Noting, name: string, find: () => T | Promise<T>): Promise<T> {
  if (caller.done && Object.hasOwn(caller.done.notes, name)) return caller.done.notes[name] as T
  const found = await find()
  note(caller, name, found)
  return found
}

/** Entries that a call has stored which is made again, in order; evictions stand behind them. */
export function savedBy({ effect, told }: Done) {
  const evicted = effect.filter(([, version]) => version < 0).map(([id]) => id)
  const summarized = new Set(told as readonly number[] | null)
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
