import { numbersContract } from '../contracts/endpoint/numbers'

numbersContract()
