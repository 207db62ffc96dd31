import { changeFeedEndpointContract } from '../contracts/endpoint/change-feed'
import { historyEndpointContract } from '../contracts/endpoint/history'
import { keptHistoryEndpointContract } from '../contracts/endpoint/history-kept'
import { historyRandomContract } from '../contracts/endpoint/history-random'

changeFeedEndpointContract()
historyEndpointContract()
keptHistoryEndpointContract()
// Longer in the nightly tier.
historyRandomContract({ steps: 3, kills: 1 })
