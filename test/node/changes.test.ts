import { changeFeedEndpointContract } from '../contracts/endpoint/change-feed'

changeFeedEndpointContract()
