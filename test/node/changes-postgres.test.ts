import { changeFeedEndpointContract } from '../contracts/endpoint/change-feed'
import { playAgainst } from '../contracts/endpoint/session'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)
changeFeedEndpointContract()
