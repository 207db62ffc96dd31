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
   * Adds the outcome to the receipt of the call (the caller's changeId), which is created if the call wrote nothing. The receipt of
   * another call is not changed, so that a call without effect never answers for the one that had it. The first call wins:
   * the returned receipt has the outcome that every repetition answers with.
   *
   * @param given `facts` as stored in JSON
   */
  complete(caller: Caller, given: { readonly key: string; readonly facts: unknown }): Promise<Receipt>
}
