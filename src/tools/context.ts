import type { Config } from '../config'
import type { Caller } from '../domain/scope'
import type { Services } from '../services/services'

/** What a tool's handler may use. */
export interface ToolContext {
  readonly principal: Caller
  readonly services: Services
  readonly config: Config
  /** Origin of the request, for absolute addresses. */
  readonly origin: string
}
