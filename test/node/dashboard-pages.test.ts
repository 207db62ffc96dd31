import { dashboardContract } from '../contracts/endpoint/dashboard'
import { DATABASE_NAME } from '../support/database'
import { startServerHere } from '../support/server-here'

dashboardContract(DATABASE_NAME, startServerHere)
