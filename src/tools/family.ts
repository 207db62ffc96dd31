import type { Problem } from '../domain/errors'
import type { ToolContext } from './context'
import type { JsonSchema } from './json-schema'

/** A failure as callers see it. */
export interface Failure {
  readonly structured: Record<string, unknown>
  /** The text of the only text block. */
  readonly text: string
}

/** Tools that share one vocabulary, with the rules that differ between vocabularies. */
export interface Family {
  /** The name in paths: `/mcp/<name>`. */
  readonly name: string
  /** Maximum tokens of the definitions of all its tools, at four characters each (platform contract §3). */
  readonly tokens: number
  /** Returns the alternative spelling of a tool name, which calls may also use and TOOL_NAMES=dotted lists. */
  readonly dotted?: (name: string) => string
  /** Server instructions for clients that see only these tools, instead of the default. */
  readonly instructions?: string
  readonly parse: {
    /** Reports whether the handler itself checks this argument completely. */
    readonly leaves: (argument: string, shown: JsonSchema) => boolean
  }
  readonly failure: (problem: Problem) => Failure
  /** Counts denials in the structured content of a result or a failure, for the audit log. */
  readonly denials: (structured: Record<string, unknown>) => number
  /** Runs after a successful write that queued work, when the answer has been sent. */
  readonly afterWrite: (context: ToolContext) => void
}
