import type { Caller } from '../domain/identity/scope'
import type { Receipt } from '../domain/receipts/receipt'

/**
 * Stores receipts of calls with an idempotency key. The batch of a write with such a key creates its receipt, or fails with `KeyTaken` when
 * another call was first.
 */
export interface Receipts {
  /** Finds a receipt of the caller's key that has not expired. */
  find(caller: Caller, key: string): Promise<Receipt | null>
  /**
   * Adds the answer of the call that made the receipt (the caller's changeId), which is made when the call wrote nothing. To the receipt
   * of another call nothing is added: a call that found nothing left to do must not answer for the one that did it. The first answer
   * stays, and the receipt that is returned has it.
   */
  complete(caller: Caller, given: { readonly key: string; readonly answer: unknown }): Promise<Receipt>
}
