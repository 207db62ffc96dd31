import { z } from 'zod'
import type { Config } from '../config'
import type { Role } from '../domain/identity/scope'
import type { Trace } from '../domain/receipts/receipt'
import type { Answer, Block, CallContext, ToolContext } from './context'
import type { Family } from './family'
import { carryOut, carryOutOnce, idempotencyKey, type Result, type Writing } from './idempotency'
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

interface Definition<Input extends z.ZodObject> {
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

export interface ReadingTool<Input extends z.ZodObject> extends Definition<Input> {
  /** The result is the structured content. */
  readonly handler: (context: CallContext, args: z.output<Input>) => Promise<Result>
}

/** A tool that writes says what it finds out, so that a call made again is answered from that and enters no service. */
export interface WritingTool<Input extends z.ZodObject, Facts> extends Definition<Input> {
  readonly effect: 'store' | 'change' | 'delete'
  /** What a call finds out; JSON, as a receipt keeps it. */
  readonly facts: z.ZodType<Facts>
  /** Carries the call out. */
  readonly work: (context: ToolContext, args: z.output<Input>) => Promise<Facts>
  /** The same facts, read from what the call has left in its receipt and from its arguments; pure. */
  readonly recall: (trace: Trace, args: z.output<Input>) => Facts
  /** The structured content, made of facts and arguments alone; pure. */
  readonly answer: (facts: Facts, args: z.output<Input>) => Result
  /** What a call does behind its write, made up for where its server died before it. */
  readonly unfinished?: {
    readonly when: (facts: Facts) => boolean
    readonly finish: (context: ToolContext, args: z.output<Input>, facts: Facts) => Promise<Facts>
  }
  /** Whether a call asks a model or puts images before it writes; without it, each may. */
  readonly isCostly?: (args: z.output<Input>) => boolean
  /** Whether a call left work to be done; without it, each may have. */
  readonly leavesWork?: (args: z.output<Input>, facts: Facts) => boolean
}

const withKey = (listed: JsonSchema): JsonSchema => ({
  ...listed,
  properties: { ...(listed.properties as JsonSchema), ...KEY_MEMBER },
})
const KEYED = { idempotency_key: idempotencyKey }
const KEY_MEMBER = toJsonSchema(z.strictObject(KEYED), 'input').properties as JsonSchema

/** What both sorts of tools show of themselves. */
function shown<Input extends z.ZodObject>(
  { family, name, title, description, output, enabled }: Definition<Input>,
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
  }
}

/** A tool that reads, as it is listed and called; what all tools of its family do alike is done here. */
export function defineTool<Input extends z.ZodObject>(definition: ReadingTool<Input>): Tool {
  const { family, input, listed, handler, inspect } = definition
  const inputSchema = listed ?? toJsonSchema(input, 'input')
  return {
    ...shown(definition, 'read', inputSchema),
    async call(context, given) {
      const args = parseArguments(input, inputSchema, given, {
        rules: family.parse,
        inspect: (others) => inspect?.(others, context),
      })
      const blocks: Block[] = []
      // The text of the structured content is the first block.
      const attach = (block: Block): number => blocks.push(block)
      return { structured: await handler({ ...context, attach }, args), blocks }
    },
  }
}

/** A tool that writes: it may be made again under a key, and is answered as at first then. */
export function defineWritingTool<Input extends z.ZodObject, Facts>(definition: WritingTool<Input, Facts>): Tool {
  const { family, effect, input, listed, facts, work, recall, answer, inspect, unfinished } = definition
  const { isCostly = () => true, leavesWork = () => true } = definition
  const keyed = input.safeExtend(KEYED)
  const inputSchema = listed === undefined ? toJsonSchema(keyed, 'input') : withKey(listed)

  /** The arguments as they are carried out, and what sorts of secrets they seem to hold. */
  async function looked({ services, config }: ToolContext, args: z.output<Input>) {
    if (effect === 'delete') return { args, kinds: [] }
    const { args: clean, kinds } = await screened(args, services.pace)
    return config.redact === 'always' ? { args: clean, kinds: [] } : { args, kinds }
  }

  return {
    ...shown(definition, effect, inputSchema),
    async call(context, given) {
      const { idempotency_key: key, ...rest } = parseArguments<z.ZodType<Record<string, unknown>>>(
        keyed,
        inputSchema,
        given,
        { rules: family.parse, inspect: (others) => inspect?.(others, context) },
      )
      const { args, kinds } = await looked(context, rest as z.output<Input>)
      const writing: Writing<Facts> = {
        facts,
        work: (caller) => work({ ...context, principal: caller }, args),
        recall: (trace) => recall(trace, args),
        answer: (found) => withWarning(answer(found, args), kinds),
        unfinished: unfinished && {
          when: unfinished.when,
          finish: (caller, found) => unfinished.finish({ ...context, principal: caller }, args, found),
        },
      }
      const carried =
        typeof key === 'string'
          ? await carryOutOnce({ ...context, key, args: rest, looksFirst: isCostly(args) }, writing)
          : await carryOut(context.principal, writing)
      if (!carried.replayed && leavesWork(args, carried.facts)) family.afterWrite(context)
      return { structured: carried.result, blocks: [] }
    },
  }
}
