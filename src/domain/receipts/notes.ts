/**
 * Records the facts of a call with an idempotency key before and during its write, so that its answer can be computed
 * again (history contract §2).
 */

/** The identity of a call with an idempotency key. */
export interface ReceiptDraft {
  readonly key: string
  /** Digest of the arguments. */
  readonly digest: string
  /** Facts for the answer, collected during the call. */
  readonly notes: Notes
}

/**
 * Facts that the answer needs and that do not follow from the arguments. Notes made before the batch are stored with
 * it; a later note is not in the receipt, so the answer needs one more round trip to be stored.
 */
export class Notes {
  private readonly found: Record<string, unknown> = {}
  private state: 'open' | 'kept' | 'late' = 'open'
  /**
   * Entries that the answer quotes although the call does not change them. Once one of them is erased, the answer
   * cannot be repeated.
   */
  mentioned: readonly number[] = []
  /** A text that the answer contains and the arguments do not. */
  text: string | null = null

  note(name: string, value: unknown): void {
    this.found[name] = value
    if (this.state === 'kept') this.state = 'late'
  }

  /** Marks the notes as stored by a committed batch. */
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

  /** Whether the receipt contains everything that the answer needs. */
  get isWhole(): boolean {
    return this.state === 'kept'
  }
}

/** A caller, reduced to its receipt. */
interface Noting {
  readonly receipt?: ReceiptDraft
}

/** Adds a fact to the receipt of a call; does nothing for a call without an idempotency key. */
export const note = (caller: Noting, name: string, value: unknown): void => caller.receipt?.notes.note(name, value)

/** Another call used the same idempotency key first. */
export class KeyAlreadyUsed extends Error {
  constructor() {
    super('another call with this idempotency_key was first')
    this.name = 'KeyAlreadyUsed'
  }
}
