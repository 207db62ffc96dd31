import { historyRandomContract } from '../../contracts/endpoint/history-random'
import { playAgainst } from '../../contracts/endpoint/session'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
historyRandomContract()
