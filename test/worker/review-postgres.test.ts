import { reviewContract } from '../contracts/review'

// The whole of it: test/nightly.
reviewContract(false)
