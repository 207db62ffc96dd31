import { sizeContract } from '../contracts/endpoint/sizes'
import { CLIENTS } from '../support/clients'

sizeContract(CLIENTS['SDK v2, revision 2026-07-28'] as (typeof CLIENTS)[string])
