import { changeFeedEndpointContract } from '../../contracts/endpoint/change-feed'
import { historyEndpointContract } from '../../contracts/endpoint/history'
import { keptHistoryEndpointContract } from '../../contracts/endpoint/history-kept'
import { playAgainst } from '../../contracts/endpoint/session'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
changeFeedEndpointContract()
historyEndpointContract()
keptHistoryEndpointContract()
