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

/** Upper limits of a tool's cost. Tests check its definition and its calls on D1 against them. */
export interface Budget {
  /** Tokens of name, description and input schema, at four characters each. */
  readonly tokens: number
  /** Round trips to the database of the longest call. */
  readonly trips: number
  /** Rows that all calls of the tool in `test/support/every-tool.ts` read together, in a small and in a large database. */
  readonly reads: readonly [small: number, large: number]
  /** Rows that these calls write. */
  readonly writes: number
}

/** Declarations of a tool for tests and for `docs/tools.md`. */
interface Declared<Example> {
  /** A call that works after the examples of the tools that write (`test/support/tool-examples.ts` has the order). */
  readonly example: Example
  /** ID of a promise in `docs/contracts` that a test of the tool verifies. */
  readonly promise: string
  readonly budget: Budget
}

export interface Tool extends Declared<Readonly<Record<string, unknown>>> {
  readonly family: Family
  /** The name without dots, which every client accepts. */
  readonly name: string
  /** An alternative name with a dot, which calls may also use; null if the family has none. */
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
  /** Checks the arguments and executes the call. */
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
  /** Arguments, each with a description. The object is strict, so that unknown arguments are refused. */
  readonly input: Input
  /** Returns the input schema to list, if it has more than the schema that is checked first (items of batches). */
  readonly listed?: () => JsonSchema
  readonly output: z.ZodType
  readonly enabled?: (config: Config) => boolean
  /** Loads modules that these arguments need (domain/deferred). */
  readonly loads?: (args: Readonly<Record<string, unknown>>) => Promise<unknown> | null
  /** Checks arguments beyond their types, so that all problems are reported together. @throws Problem */
  readonly inspect?: (args: Record<string, unknown>, context: ToolContext) => void
}

interface ReadingTool<Input extends z.ZodObject> extends Definition<Input> {
  /** Returns the arguments that apply, if one of them makes others irrelevant. */
  readonly counting?: (args: Record<string, unknown>) => Record<string, unknown>
  /** Executes the call. Its result is the structured content. */
  readonly handler: (context: CallContext, args: z.output<Input>) => Promise<Result>
}

/** Returns a function that computes its value once, when it is first called. */
export function lazily<T>(compute: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: compute() }
    return made.value
  }
}

/**
 * Returns the listed properties of a tool. Schemas are converted when they are first read, because a start of the Worker would otherwise
 * convert those of all tools.
 */
export function shown<Input extends z.ZodObject>(
  { family, name, title, description, output, enabled, example, promise, budget }: Definition<Input>,
  effect: keyof typeof EFFECTS,
  inputSchema: () => JsonSchema,
): Omit<Tool, 'call'> {
  const outputSchema = lazily(() => toJsonSchema(output, 'output'))
  return {
    ...{ family, name, dottedName: family.dotted?.(name) ?? null, title, description },
    annotations: EFFECTS[effect],
    role: effect === 'read' ? 'reader' : 'writer',
    get inputSchema() {
      return inputSchema()
    },
    get outputSchema() {
      return outputSchema()
    },
    enabled: enabled ?? (() => true),
    ...{ example, promise, budget },
  }
}

/**
 * Defines a tool that reads, with the behavior that all tools of its family share.
 *
 * @example
 * defineTool({ family: core, name: 'projects', title: 'Projects', description: 'List projects.', example: {}, promise: 'CORE-26', budget, input, output, handler })
 */
export function defineTool<Input extends z.ZodObject>(definition: ReadingTool<Input>): Tool {
  const { family, input, listed, handler, inspect, counting, loads } = definition
  const inputSchema = lazily(() => listed?.() ?? toJsonSchema(input, 'input'))
  return Object.assign(shown(definition, 'read', inputSchema), {
    call: (caller: ToolContext, given: unknown): Promise<Answer> =>
      withNames(caller, given, async (context, names) => {
        if (loads !== undefined && isRecord(given)) await loads(given)
        const warnings: string[] = []
        const args = parseArguments(input, inputSchema(), counting && isRecord(given) ? counting(given) : given, {
          ...{ rules: family.parse, effect: 'read', warn: (warning) => warnings.push(warning) },
          inspect: (others) => inspect?.(withKeys(others, names, true), context),
        })
        const blocks: Block[] = []
        // The text of the structured content is the first block.
        const attach = (block: Block): number => blocks.push(block)
        const result = await handler({ ...context, attach }, withKeys(args, names, true))
        return { structured: withWarnings(result, warnings), blocks }
      }),
  })
}
