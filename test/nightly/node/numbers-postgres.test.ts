import { numbersContract } from '../../contracts/endpoint/numbers'
import { playAgainst } from '../../contracts/endpoint/session'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
numbersContract()
