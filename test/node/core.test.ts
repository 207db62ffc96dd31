import { askingContract } from '../contracts/endpoint/asking'
import { coreContract } from '../contracts/endpoint/core'

coreContract()
askingContract()
