import { isolationChangesContract } from '../contracts/isolation-changes'

// Each on each: test/nightly.
isolationChangesContract(16)
