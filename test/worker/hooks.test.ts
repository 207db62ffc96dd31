import { hooksContract } from '../contracts/hooks'
import { DATABASE, IS_NIGHTLY } from '../support/database'

// With all secrets: nightly/worker/captured-secrets.
if (DATABASE === 'd1') hooksContract(true, 4)
else if (IS_NIGHTLY) hooksContract(true, 2)
else hooksContract(false, null)
