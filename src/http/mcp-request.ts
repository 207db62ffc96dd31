import type { Config } from '../config'
import type { Principal } from '../domain/identity/scope'
import type { Services } from '../services/services'
import type { Tool } from '../tools/define-tool'
import type { Log } from './log'
import type { Measure } from './measure'

/** Dependencies of one request to the endpoint. */
export interface McpRequest {
  readonly config: Config
  readonly services: Services
  readonly principal: Principal
  readonly tools: readonly Tool[]
  /** Names of tools that are called here but not offered, each with the equivalent call. */
  readonly instead?: Readonly<Record<string, string>>
  /** Whether resources, prompts and completions are served in addition to the tools. */
  readonly offersResources: boolean
  /** Whether threads are listed as resources. */
  readonly listsThreads: boolean
  readonly requestId: string
  readonly log: Log
  /** Receives each call and its outcome; absent where they are not recorded. */
  readonly measure?: Pick<Measure, 'called' | 'rendered' | 'traced'> | undefined
  /** Counts further messages of the same request against the limits of its key; returns the answer if they exceed them. */
  readonly admit: (messages: number) => Promise<Response | null>
  /** Marks the request as an open stream, which no longer counts as a running request. */
  readonly release: () => void
}
