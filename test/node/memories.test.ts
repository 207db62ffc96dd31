import { memoryContract } from '../contracts/endpoint/memories'
import { CLIENTS, type Connect } from '../support/clients'

memoryContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)
