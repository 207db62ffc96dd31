import { isolationAtRandom } from '../contracts/isolation-random'

// Longer in the nightly tier.
isolationAtRandom(1, 30)
