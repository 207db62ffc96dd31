import { trustContract } from '../contracts/endpoint/trust'
import { startPlace } from '../support/places'

trustContract('D1', startPlace)
