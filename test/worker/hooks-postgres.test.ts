import { hooksContract } from '../contracts/hooks'

// The whole of it, and more secrets: test/nightly.
hooksContract(false, 8)
