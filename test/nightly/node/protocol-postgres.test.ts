import { imageContract } from '../../contracts/endpoint/images'
import { longEntriesContract } from '../../contracts/endpoint/long-entries'
import { protocolContract } from '../../contracts/endpoint/protocol'
import { resourceContract } from '../../contracts/endpoint/resources'
import { playAgainst } from '../../contracts/endpoint/session'
import { CLIENTS, type Connect } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
protocolContract(connect)
imageContract(connect)
resourceContract(connect)
longEntriesContract(connect)
