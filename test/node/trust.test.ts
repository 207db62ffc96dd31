import { trustContract } from '../contracts/endpoint/trust'
import { DATABASE_NAME } from '../support/database'
import { startServerHere } from '../support/server-here'

trustContract(DATABASE_NAME, startServerHere)
