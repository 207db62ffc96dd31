import { hooksContract } from '../contracts/hooks'

// With all of the secrets: test/nightly.
hooksContract(true, 4)
