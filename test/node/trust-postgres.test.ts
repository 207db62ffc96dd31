import { trustContract } from '../contracts/endpoint/trust'
import { startPostgresServer } from '../support/server-postgres'

trustContract('PostgreSQL', startPostgresServer)
