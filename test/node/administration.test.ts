import { administrationContract } from '../contracts/endpoint/administration'
import { startTeam } from '../support/access'
import { startServerHere } from '../support/server-here'

administrationContract(() => startTeam({}, startServerHere))
