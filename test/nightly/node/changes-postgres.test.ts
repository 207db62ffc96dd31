import { changeFeedEndpointContract } from '../../contracts/endpoint/change-feed'
import { keptHistoryEndpointContract } from '../../contracts/endpoint/history-kept'
import { playAgainst } from '../../contracts/endpoint/session'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
changeFeedEndpointContract()
keptHistoryEndpointContract()
