import type * as z from 'zod'
import type { Config } from '../config'
import type { Role } from '../domain/identity/scope'
import type { Answer, Block, CallContext, ToolContext } from './context'
import type { Family } from './family'
import type { Result } from './idempotency'
import { type JsonSchema, toJsonSchema } from './json-schema'
import { withKeys, withNames } from './named-projects'
import { parseArguments } from './parse-arguments'
import { isRecord } from './record'
import { withWarnings } from './secret-scan'

/** The most that a tool may cost. Tests hold its definition and its calls on D1 to these numbers. */
export interface Budget {
  /** Tokens of name, description and input schema, at four characters each. */
  readonly tokens: number
  /** Round trips to the database of the longest call. */
  readonly trips: number
  /** Rows that all calls of the tool in `test/support/every-tool.ts` read together: among 196 entries, and among 1,225. */
  readonly reads: readonly [small: number, large: number]
  /** Rows that these calls write. */
  readonly writes: number
}

/** How a tool declares itself to tests and to `docs/tools.md`. */
interface Declared<Example> {
  /** A call that works after those of the tools that store and change (`test/support/tool-examples.ts` has the order). */
  readonly example: Example
  /** ID of a promise in `docs/contracts` that a test of the tool proves. */
  readonly promise: string
  readonly budget: Budget
}

export interface Tool extends Declared<Readonly<Record<string, unknown>>> {
  readonly family: Family
  /** The portable name. */
  readonly name: string
  /** The family's other spelling of it, by which it can be called too. */
  readonly dottedName: string | null
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
  /** Checks arguments and does the work. */
  readonly call: (context: ToolContext, args: unknown) => Promise<Answer>
}

const EFFECTS = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  store: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  change: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const

export interface Definition<Input extends z.ZodObject> extends Declared<z.input<Input>> {
  readonly family: Family
  readonly name: string
  readonly title: string
  readonly description: string
  /** Every argument with a description; a strict object, so that unknown arguments are refused. */
  readonly input: Input
  /** What to show as the input schema where that is more than what is checked at once (items of batches). */
  readonly listed?: JsonSchema
  readonly output: z.ZodType
  readonly enabled?: (config: Config) => boolean
  /** What the tool would find wrong with these arguments, said too when something else is. @throws Problem */
  readonly inspect?: (args: Record<string, unknown>, context: ToolContext) => void
}

interface ReadingTool<Input extends z.ZodObject> extends Definition<Input> {
  /** Those of the arguments that count, where one of them says that others are ignored, right or wrong. */
  readonly counting?: (args: Record<string, unknown>) => Record<string, unknown>
  /** The result is the structured content. */
  readonly handler: (context: CallContext, args: z.output<Input>) => Promise<Result>
}

/** What both sorts of tools show of themselves. */
export function shown<Input extends z.ZodObject>(
  { family, name, title, description, output, enabled, example, promise, budget }: Definition<Input>,
  effect: keyof typeof EFFECTS,
  inputSchema: JsonSchema,
): Omit<Tool, 'call'> {
  return {
    ...{ family, name, dottedName: family.dotted?.(name) ?? null, title, description },
    annotations: EFFECTS[effect],
    role: effect === 'read' ? 'reader' : 'writer',
    inputSchema,
    outputSchema: toJsonSchema(output, 'output'),
    enabled: enabled ?? (() => true),
    ...{ example, promise, budget },
  }
}

/** A tool that reads, as it is listed and called; what all tools of its family do alike is done here. */
export function defineTool<Input extends z.ZodObject>(definition: ReadingTool<Input>): Tool {
  const { family, input, listed, handler, inspect, counting } = definition
  const inputSchema = listed ?? toJsonSchema(input, 'input')
  return {
    ...shown(definition, 'read', inputSchema),
    call: (caller, given) =>
      withNames(caller, given, async (context, names) => {
        const warnings: string[] = []
        const args = parseArguments(input, inputSchema, counting && isRecord(given) ? counting(given) : given, {
          ...{ rules: family.parse, effect: 'read', warn: (warning) => warnings.push(warning) },
          inspect: (others) => inspect?.(withKeys(others, names, true), context),
        })
        const blocks: Block[] = []
        // The text of the structured content is the first block.
        const attach = (block: Block): number => blocks.push(block)
        const result = await handler({ ...context, attach }, withKeys(args, names, true))
        return { structured: withWarnings(result, warnings), blocks }
      }),
  }
}
