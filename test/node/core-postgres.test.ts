import { coreContract } from '../contracts/endpoint/core'
import { playAgainst } from '../contracts/endpoint/session'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)
coreContract()
