import { playAgainst } from '../../contracts/endpoint/session'
import { sizeContract } from '../../contracts/endpoint/sizes'
import { CLIENTS } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
sizeContract(CLIENTS['SDK v2, revision 2026-07-28'] as (typeof CLIENTS)[string])
