import type { Caller } from '../../src/domain/identity/scope'
import type { Trace } from '../../src/domain/receipts/receipt'
import type { Result, Writing } from '../../src/tools/idempotency'

/** A call whose stored facts are its answer. @param recall reads them from its receipt */
export const keyedCall = (
  work: (caller: Caller) => Promise<Result>,
  recall: (trace: Trace) => Result,
): Writing<Result> => ({ work, recall, answer: (facts) => facts })
