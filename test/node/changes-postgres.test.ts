import { historyEndpointContract } from '../contracts/endpoint/history'
import { playAgainst } from '../contracts/endpoint/session'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)
historyEndpointContract()
