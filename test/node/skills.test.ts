import { skillsContract } from '../contracts/endpoint/skills'
import { startServerHere } from '../support/server-here'

skillsContract(startServerHere)
