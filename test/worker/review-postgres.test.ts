import { reviewContract } from '../contracts/review'

// All of it: test/nightly.
reviewContract(false)
