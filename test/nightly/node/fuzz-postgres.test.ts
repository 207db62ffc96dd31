import { fuzzContract } from '../../contracts/endpoint/fuzz'
import { playAgainst } from '../../contracts/endpoint/session'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
fuzzContract(400, 150)
