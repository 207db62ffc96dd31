import { dashboardContract } from '../../contracts/endpoint/dashboard'
import { startPostgresServer } from '../../support/server-postgres'

dashboardContract('PostgreSQL', startPostgresServer)
