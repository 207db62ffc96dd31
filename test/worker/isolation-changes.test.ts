import { isolationChangesContract } from '../contracts/isolation-changes'

isolationChangesContract(8)
