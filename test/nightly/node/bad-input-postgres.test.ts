import { badInputContract } from '../../contracts/endpoint/bad-input'
import { playAgainst } from '../../contracts/endpoint/session'
import { CLIENTS, type Connect } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)

badInputContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect, { calls: 800, good: 20 })
