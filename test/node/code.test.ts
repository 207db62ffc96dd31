import { codeContract, codeQuotaContract } from '../contracts/endpoint/code'
import { codeAccessContract } from '../contracts/endpoint/code-access'
import { fabricContract } from '../contracts/endpoint/fabric'
import { CLIENTS, type Connect } from '../support/clients'

const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
fabricContract(connect)
codeContract(connect)
codeQuotaContract(connect)
codeAccessContract()
