import { reviewContract } from '../contracts/review'
import { DATABASE, IS_NIGHTLY } from '../support/database'

// On PostgreSQL all of it in the nightly tier.
reviewContract(DATABASE === 'd1' || IS_NIGHTLY)
