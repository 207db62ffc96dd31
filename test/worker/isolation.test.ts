import { isolationAtRandom } from '../contracts/isolation-random'
import { onPostgres } from '../support/direct-sql'

// Longer in the nightly tier; here half as long on PostgreSQL, whose rule is the same predicate.
isolationAtRandom({ runs: 1, ...(onPostgres() ? { calls: 85, steps: 15 } : { calls: 170, steps: 30 }) })
