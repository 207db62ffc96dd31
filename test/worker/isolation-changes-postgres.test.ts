import { isolationChangesContract } from '../contracts/isolation-changes'

// The statements are the same on both databases, and each call opens a connection here.
isolationChangesContract(6)
