import { memoryUsageContract } from '../contracts/memory-usage'

memoryUsageContract()
