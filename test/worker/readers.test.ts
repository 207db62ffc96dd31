import { readersContract } from '../contracts/readers'

readersContract(10, 1)
