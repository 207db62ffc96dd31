import type { Config } from '../config'
import type { Caller } from '../domain/identity/scope'
import type { Services } from '../services/services'

/** What a call of a tool is made with. */
export interface ToolContext {
  readonly principal: Caller
  readonly services: Services
  readonly config: Config
  /** Origin of the request, for absolute addresses. */
  readonly origin: string
}

/** A part of an answer beside its structured content, as MCP spells it. */
export type Block =
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly mimeType: string
      readonly size: number
    }

/** What a tool's handler may use. */
export interface CallContext extends ToolContext {
  /** Adds a block to the answer. @returns its index in `content` */
  readonly attach: (block: Block) => number
}

/** The structured content, and the blocks that stand behind the text of the same JSON. */
export interface Answer {
  readonly structured: Record<string, unknown>
  readonly blocks: readonly Block[]
}
