import { playAgainst } from '../../contracts/endpoint/session'
import { ENDPOINT_SUITES } from '../../contracts/endpoint/suites'
import { writingContract } from '../../contracts/endpoint/writing'
import { CLIENTS, type Connect } from '../../support/clients'
import { POSTGRES } from '../../support/server-postgres'

playAgainst(POSTGRES)
// Writing is in `npm test`.
for (const suite of ENDPOINT_SUITES.filter((one) => one !== writingContract))
  suite(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)
