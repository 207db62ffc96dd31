import type { Problem } from '../domain/errors'
import type { ToolContext } from './context'
import type { JsonSchema } from './json-schema'

/** A failure as callers see it. */
export interface Failure {
  readonly structured: Record<string, unknown>
  /** Of the one text block. */
  readonly text: string
}

/** Tools that share one vocabulary, and the habits in which vocabularies differ. */
export interface Family {
  /** As paths name it: `/mcp/<name>`. */
  readonly name: string
  /** Tokens that the definitions of all its tools may cost a client together, at four characters each (platform contract §3). */
  readonly tokens: number
  /** The other spelling of its tools' names, by which they can be called too; TOOL_NAMES=dotted lists it. */
  readonly dotted?: (name: string) => string
  /** What a client that sees only these tools is told, in the place of what is told of all. */
  readonly instructions?: string
  readonly parse: {
    /** Whether the handler itself says all that is wrong with this argument of the shown schema. */
    readonly leaves: (argument: string, shown: JsonSchema) => boolean
  }
  readonly failure: (problem: Problem) => Failure
  /** How many denials stand in the structured content of a result or a failure, for the audit log. */
  readonly denials: (structured: Record<string, unknown>) => number
  /** After a successful write that left work to be done, when the answer is on its way. */
  readonly afterWrite: (context: ToolContext) => void
}
