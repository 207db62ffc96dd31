import { fuzzContract } from '../../contracts/endpoint/fuzz'

fuzzContract(800, 300)
