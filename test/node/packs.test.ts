import { packsContract } from '../contracts/endpoint/packs'
import { CLIENTS, type Connect } from '../support/clients'

packsContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)
