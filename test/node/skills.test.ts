import { skillsContract } from '../contracts/endpoint/skills'
import { DATABASE_NAME } from '../support/database'
import { startServerHere } from '../support/server-here'

skillsContract(DATABASE_NAME, startServerHere)
