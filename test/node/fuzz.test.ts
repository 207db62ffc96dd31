import { fuzzContract } from '../contracts/endpoint/fuzz'

fuzzContract()
