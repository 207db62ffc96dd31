import { appsContract } from '../contracts/endpoint/apps'
import { askingContract } from '../contracts/endpoint/asking'
import { coreContract } from '../contracts/endpoint/core'

coreContract()
askingContract()
appsContract()
