import { playAgainst } from '../contracts/endpoint/session'
import { writingContract } from '../contracts/endpoint/writing'
import { CLIENTS, type Connect } from '../support/clients'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)
// All that is read and found on PostgreSQL over the wire: test/nightly/node/protocol-postgres.
writingContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)
