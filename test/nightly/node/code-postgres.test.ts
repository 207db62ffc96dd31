import { codeContract, codeQuotaContract } from '../../contracts/endpoint/code'
import { codeAccessContract } from '../../contracts/endpoint/code-access'
import { playAgainst } from '../../contracts/endpoint/session'
import { CLIENTS, type Connect } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)

const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
codeContract(connect)
codeQuotaContract(connect)
codeAccessContract()
