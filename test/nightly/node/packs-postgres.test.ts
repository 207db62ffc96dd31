import { packsContract } from '../../contracts/endpoint/packs'
import { playAgainst } from '../../contracts/endpoint/session'
import { CLIENTS, type Connect } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
packsContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)
