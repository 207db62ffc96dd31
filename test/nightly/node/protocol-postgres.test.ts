import { protocolContract } from '../../contracts/endpoint/protocol'
import { playAgainst } from '../../contracts/endpoint/session'
import { CLIENTS, type Connect } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
protocolContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)
