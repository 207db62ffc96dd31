import { z } from 'zod'
import type { Config } from '../config'
import type { Caller, Role } from '../domain/scope'
import type { Services } from '../services/services'

export const FAMILIES = ['threads', 'fabric', 'packs'] as const
export type Family = (typeof FAMILIES)[number]

/** What a tool's handler may use. */
export interface ToolContext {
  readonly principal: Caller
  readonly services: Services
  readonly config: Config
  /** Origin of the request, for absolute addresses. */
  readonly origin: string
}

export type JsonSchema = { readonly [key: string]: unknown }

export interface Tool {
  readonly family: Family
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: false
  }
  readonly role: Role
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly enabled: (config: Config) => boolean
  /** Checks arguments and does the work; the result is the structured content. */
  readonly call: (context: ToolContext, args: unknown) => Promise<Record<string, unknown>>
}

const EFFECTS = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  store: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  change: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const

export interface ToolDefinition<Input extends z.ZodType> {
  readonly family: Family
  readonly name: string
  readonly title: string
  readonly description: string
  readonly effect: keyof typeof EFFECTS
  /** Every argument with a description; a strict object, so that unknown arguments are refused. */
  readonly input: Input
  /** What to show as the input schema where that is more than what is checked at once (items of batches). */
  readonly listed?: z.ZodType
  readonly output: z.ZodType
  readonly enabled?: (config: Config) => boolean
  readonly handler: (context: ToolContext, args: z.output<Input>) => Promise<Record<string, unknown>>
}

/** The schema as clients see it: plain JSON Schema without the dialect line, which costs every client tokens. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

/** @param parse checks arguments against the schema and throws a Problem that names the argument and the way out */
export function defineTool<Input extends z.ZodType>(
  definition: ToolDefinition<Input>,
  parse: (input: Input, schema: JsonSchema, args: unknown) => z.output<Input>,
): Tool {
  const { family, name, title, description, effect, input, listed, output, enabled, handler } = definition
  const inputSchema = toJsonSchema(listed ?? input, 'input')
  return {
    family,
    name,
    title,
    description,
    annotations: EFFECTS[effect],
    role: effect === 'read' ? 'reader' : 'writer',
    inputSchema,
    outputSchema: toJsonSchema(output, 'output'),
    enabled: enabled ?? (() => true),
    call: (context, args) => handler(context, parse(input, inputSchema, args)),
  }
}
