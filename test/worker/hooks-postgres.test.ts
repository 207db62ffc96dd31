import { hooksContract } from '../contracts/hooks'

// The whole of it, and secrets, which are taken out before anything is stored: test/nightly.
hooksContract(false, null)
