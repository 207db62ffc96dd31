/** What a call with a key writes down before and within its write, so that its answer can be made again (history contract §2). */

/** What a caller says of its call so that it can be known again. */
export interface ReceiptDraft {
  readonly key: string
  /** Of the arguments. */
  readonly digest: string
  /** What the call writes down for its answer. */
  readonly notes: Notes
}

/**
 * What a call with a key finds out and its answer tells, beside what follows from its arguments. What stands here when its batch is
 * made is kept in it; what is noted later is in no receipt, so that its facts have to be kept by one more round trip.
 */
export class Notes {
  private readonly found: Record<string, unknown> = {}
  private state: 'open' | 'kept' | 'late' = 'open'
  /** Entries whose words the answer tells, although the call does nothing to them: once one is erased, there is no answer any more. */
  mentioned: readonly number[] = []
  /** A text that the answer shows and the arguments do not hold. */
  text: string | null = null

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
interface Noting {
  readonly receipt?: ReceiptDraft
}

/** Notes what the answer of a call tells; nothing where the call has no key. */
export const note = (caller: Noting, name: string, value: unknown): void => caller.receipt?.notes.note(name, value)

/** Another call with the same key was first. */
export class KeyTaken extends Error {
  constructor() {
    super('another call with this idempotency_key was first')
    this.name = 'KeyTaken'
  }
}
