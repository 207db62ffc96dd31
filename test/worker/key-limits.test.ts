import { keyLimitsContract } from '../contracts/key-limits'

keyLimitsContract()
