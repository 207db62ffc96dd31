import { badInputContract } from '../../contracts/endpoint/bad-input'
import { CLIENTS, type Connect } from '../../support/clients'

badInputContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect, { calls: 800, good: 20 })
