import type { Config } from '../config'
import type { Caller } from '../domain/identity/scope'
import type { Services } from '../services/services'

/**
 * Returns if a person has answered yes to this question about these memories.
 *
 * @throws ConsentNeeded if the call has no answer to it
 * @throws Problem forbidden if the person declined
 */
export type AskConsent = (question: string, about: readonly number[]) => Promise<void>

/** The caller, services and configuration of one tool call. */
export interface ToolContext {
  readonly principal: Caller
  readonly services: Services
  readonly config: Config
  /** Origin of the request, for absolute addresses. */
  readonly origin: string
  /** Asks a person, if the client can show a question (SEP-2322, `input_required` of revision 2026-07-28). */
  readonly confirm?: AskConsent
}

/** A part of an answer in addition to its structured content, in the form of MCP. */
export type Block =
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly mimeType: string
      readonly size: number
    }

/** The context of a tool's handler. */
export interface CallContext extends ToolContext {
  /** Adds a block to the answer. @returns its index in `content` */
  readonly attach: (block: Block) => number
}

/** The structured content, and the blocks that follow the text block with the same JSON. */
export interface Answer {
  readonly structured: Record<string, unknown>
  readonly blocks: readonly Block[]
}
