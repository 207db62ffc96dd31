import { coreContract } from '../contracts/endpoint/core'

coreContract()
