import { changeFeedEndpointContract } from '../contracts/endpoint/change-feed'
import { historyEndpointContract } from '../contracts/endpoint/history'
import { historyRandomContract } from '../contracts/endpoint/history-random'

changeFeedEndpointContract()
historyEndpointContract()
historyRandomContract()
