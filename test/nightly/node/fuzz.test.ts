import { fuzzContract } from '../../contracts/endpoint/fuzz'
import { DATABASE } from '../../support/database'

if (DATABASE === 'd1') fuzzContract(800, 300)
else fuzzContract(400, 150)
