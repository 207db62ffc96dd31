import { changeFeedEndpointContract } from '../contracts/endpoint/change-feed'
import { historyEndpointContract } from '../contracts/endpoint/history'

changeFeedEndpointContract()
historyEndpointContract()
