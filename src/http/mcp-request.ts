import type { Config } from '../config'
import type { Principal } from '../domain/identity/scope'
import type { Services } from '../services/services'
import type { Tool } from '../tools/define-tool'
import type { Log } from './log'
import type { Measure } from './measure'

/** What one request to the endpoint is answered with. */
export interface McpRequest {
  readonly config: Config
  readonly services: Services
  readonly principal: Principal
  readonly tools: readonly Tool[]
  /** Names of tools that are called here though they are not offered, each with the call that does the same. */
  readonly instead?: Readonly<Record<string, string>>
  /** Whether resources, prompts and completions are served beside the tools. */
  readonly offersResources: boolean
  /** Whether threads are listed among them. */
  readonly listsThreads: boolean
  readonly requestId: string
  readonly log: Log
  /** Hears what was called and how it ended; absent where nobody counts. */
  readonly measure?: Pick<Measure, 'called' | 'rendered' | 'traced'> | undefined
  /** Counts further messages of the same request against the limits of its key; the answer where they are too many. */
  readonly admit: (messages: number) => Promise<Response | null>
  /** The request stays open as a stream, and no longer counts among those that run at once. */
  readonly release: () => void
}
