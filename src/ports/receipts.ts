import type { Caller } from '../domain/identity/scope'
import type { Receipt } from '../domain/receipts/receipt'

/**
 * Receipts of calls that gave a key. The batch of a write that such a caller makes keeps one itself, or fails with `KeyTaken` when
 * another call was first.
 */
export interface Receipts {
  /** Of the caller's credential, within the time that receipts are kept. */
  find(caller: Caller, key: string): Promise<Receipt | null>
  /**
   * Adds the whole facts of the call that made the receipt (the caller's changeId), which is made when the call wrote nothing; to the
   * receipt of another call nothing is added: what found nothing left to do must not answer for who did it. Whoever is first is right:
   * the receipt that comes back has the facts by which everybody is answered.
   *
   * @param given `facts` as JSON keeps them
   */
  complete(caller: Caller, given: { readonly key: string; readonly facts: unknown }): Promise<Receipt>
}
