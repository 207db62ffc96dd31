import { administrationContract } from '../../contracts/endpoint/administration'
import { startTeam } from '../../support/access'
import { startPostgresServer } from '../../support/server-postgres'

administrationContract(() => startTeam({}, startPostgresServer))
