import { administrationContract } from '../contracts/endpoint/administration'
import { startTeam } from '../support/access'

administrationContract(() => startTeam())
