import { hooksContract } from '../contracts/hooks'

// All of it, and secrets, which are removed before anything is stored: test/nightly.
hooksContract(false, null)
