import { z } from 'zod'
import type { Config } from '../config'
import type { Caller, Role } from '../domain/identity/scope'
import type { Answer, Block, CallContext, ToolContext } from './context'
import type { Family } from './family'
import { carryOutOnce, idempotencyKey } from './idempotency'
import { type JsonSchema, toJsonSchema } from './json-schema'
import { parseArguments } from './parse-arguments'
import { screened, withWarning } from './screened'

export interface Tool {
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

export interface ToolDefinition<Input extends z.ZodObject> {
  readonly family: Family
  readonly name: string
  readonly title: string
  readonly description: string
  readonly effect: keyof typeof EFFECTS
  /** Every argument with a description; a strict object, so that unknown arguments are refused. */
  readonly input: Input
  /** What to show as the input schema where that is more than what is checked at once (items of batches). */
  readonly listed?: JsonSchema
  readonly output: z.ZodType
  readonly enabled?: (config: Config) => boolean
  /** The result is the structured content. */
  readonly handler: (context: CallContext, args: z.output<Input>) => Promise<Record<string, unknown>>
  /** What the handler would find wrong with these arguments, said too when something else is. @throws Problem */
  readonly inspect?: (args: Record<string, unknown>, context: ToolContext) => void
  /** Whether a call asks a model or puts images before it writes; without it, each may. */
  readonly isCostly?: (args: z.output<Input>) => boolean
  /** Whether a call of a tool that writes left work to be done; without it, each may have. */
  readonly leavesWork?: (args: z.output<Input>, result: Record<string, unknown>) => boolean
}

const withKey = (listed: JsonSchema): JsonSchema => ({
  ...listed,
  properties: { ...(listed.properties as JsonSchema), ...KEY_MEMBER },
})
const KEY_MEMBER = toJsonSchema(z.strictObject({ idempotency_key: idempotencyKey }), 'input').properties as JsonSchema

/** A tool as it is listed and called; what all tools of its family do alike is done here. */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { family, name, title, description, effect, input, listed, output, enabled } = definition
  const { handler, inspect, isCostly = () => true, leavesWork = () => true } = definition
  // Whatever writes may be made again under a key.
  const taken = effect === 'read' ? input : input.safeExtend({ idempotency_key: idempotencyKey })
  const inputSchema = listed === undefined ? toJsonSchema(taken, 'input') : withKey(listed)
  return {
    family,
    name,
    dottedName: family.dotted?.(name) ?? null,
    title,
    description,
    annotations: EFFECTS[effect],
    role: effect === 'read' ? 'reader' : 'writer',
    inputSchema,
    outputSchema: toJsonSchema(output, 'output'),
    enabled: enabled ?? (() => true),
    async call(context, given) {
      const { idempotency_key: key, ...rest } = parseArguments(taken, inputSchema, given, {
        rules: family.parse,
        inspect: (others) => inspect?.(others, context),
      }) as Record<string, unknown>
      const args = rest as z.output<Input>
      const blocks: Block[] = []
      // The text of the structured content is the first block.
      const attach = (block: Block): number => blocks.push(block)
      const run = async (principal: Caller) => {
        const called = { ...context, principal, attach }
        if (effect !== 'store' && effect !== 'change') return handler(called, args)
        const { args: clean, kinds } = await screened(args, context.services.pace)
        const redacts = context.config.redact === 'always'
        const answer = await handler(called, redacts ? clean : args)
        return redacts ? answer : withWarning(answer, kinds)
      }
      const { result, replayed } =
        typeof key === 'string'
          ? await carryOutOnce(context, { key, args: rest, looksFirst: isCostly(args) }, run)
          : { result: await run(context.principal), replayed: false }
      if (effect !== 'read' && !replayed && leavesWork(args, result)) family.afterWrite(context)
      return { structured: result, blocks }
    },
  }
}
