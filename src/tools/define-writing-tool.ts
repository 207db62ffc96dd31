import * as z from 'zod'
import { invalidInput } from '../domain/errors'
import type { PendingNames } from '../domain/identity/project-attachment'
import { note } from '../domain/receipts/notes'
import type { Trace } from '../domain/receipts/receipt'
import { addressesIn } from '../domain/trust/agent-directed'
import { givenAs } from '../domain/validation'
import type { CallNames } from '../services/people/project-names'
import type { Answer, ToolContext } from './context'
import { type Definition, lazily, shown, type Tool } from './define-tool'
import { EXPIRED_WARNING, isExpired } from './expired-warning'
import { execute, executeOnce, idempotencyKey, type Result, type Writing } from './idempotency'
import { type JsonSchema, toJsonSchema } from './json-schema'
import { withKeys, withNames } from './named-projects'
import { parseArguments } from './parse-arguments'
import { isRecord } from './record'
import { addressWarnings, scanArguments, withWarning, withWarnings } from './secret-scan'

/**
 * Refuses new project names with control characters or instructions for an agent, because session starts show them.
 *
 * @throws Problem invalid_input
 */
function checkNewProjects({ attachments }: PendingNames): void {
  for (const { name, isNew } of attachments) {
    if (!isNew || !(/\p{Cc}/u.test(name.key) || addressesIn(name.key).length > 0)) continue
    const message = 'project is not a name: it has control characters, or addresses an agent'
    throw invalidInput(message, [{ path: 'project', given: givenAs(name.key), example: 'github.com/acme/ferry' }])
  }
}

/**
 * Definition of a tool that writes. It separates outcomes from the answer, so that a repeated call can be answered from its
 * receipt.
 */
interface WritingTool<Input extends z.ZodObject, Facts> extends Definition<Input> {
  readonly effect: 'store' | 'change' | 'delete'
  /** Executes the call. */
  readonly work: (context: ToolContext, args: z.output<Input>) => Promise<Facts>
  /** Reads the same outcomes from the receipt and the arguments. Pure. */
  readonly recall: (trace: Trace, args: z.output<Input>) => Facts
  /** Builds the structured content from outcomes and arguments only. Pure. */
  readonly answer: (facts: Facts, args: z.output<Input>) => Result
  /** Work after the write, which a retry finishes if the server stopped before it. */
  readonly unfinished?: {
    readonly when: (facts: Facts) => boolean
    readonly finish: (context: ToolContext, args: z.output<Input>, facts: Facts) => Promise<Facts>
  }
  /** Reports whether a call asks a model or stores images before it writes. Default: always true. */
  readonly isCostly?: (args: z.output<Input>) => boolean
  /** Reports whether a call queued background work. Default: always true. */
  readonly queuesWork?: (args: z.output<Input>, facts: Facts) => boolean
}

const KEYED = { idempotency_key: idempotencyKey }

function withKey(listed: JsonSchema): JsonSchema {
  const { properties } = toJsonSchema(z.strictObject(KEYED), 'input')
  return { ...listed, properties: { ...(listed.properties as JsonSchema), ...(properties as JsonSchema) } }
}

/** Defines a tool that writes. A call with an `idempotency_key` can be repeated and gets the first answer again. */
export function defineWritingTool<Input extends z.ZodObject, Facts>(definition: WritingTool<Input, Facts>): Tool {
  const { family, effect, input, listed, work, recall, answer, inspect, unfinished, loads } = definition
  const { isCostly = () => true, queuesWork = () => true } = definition
  const keyed = input.safeExtend(KEYED)
  const inputSchema = lazily(() => (listed === undefined ? toJsonSchema(keyed, 'input') : withKey(listed())))

  /**
   * Scans the arguments: redacts them if REDACT=always, else reports kinds of secrets, and reports texts that address an agent.
   */
  async function scanned({ config }: ToolContext, args: z.output<Input>) {
    if (effect === 'delete') return { args, kinds: [], addresses: [] }
    const { args: clean, kinds, addresses } = await scanArguments(args)
    return config.redact === 'always' ? { args: clean, kinds: [], addresses } : { args, kinds, addresses }
  }

  return Object.assign(shown(definition, effect, inputSchema), {
    call: (caller: ToolContext, given: unknown) =>
      withNames(caller, given, (context, names) => called(context, names, given)),
  })

  /** @param names the projects that names in the arguments refer to */
  async function called(context: ToolContext, names: CallNames, given: unknown): Promise<Answer> {
    if (loads !== undefined && isRecord(given)) await loads(given)
    const { idempotency_key: key, ...rest } = parseArguments<z.ZodType<Record<string, unknown>>>(
      keyed,
      inputSchema(),
      given,
      { rules: family.parse, effect, inspect: (others) => inspect?.(withKeys(others, names, false), context) },
    )
    const { args, kinds, addresses } = await scanned(context, withKeys(rest as z.output<Input>, names, false))
    // A deletion refers to existing projects and never creates a name.
    const pending = effect === 'delete' ? null : names.pending
    if (pending !== null) checkNewProjects(pending)
    // Set while the work runs, because a repeated call enters no service.
    let ended = false
    const writing: Writing<Facts> = {
      work: async (by) => {
        const caller = pending === null ? by : { ...by, names: pending }
        if (pending !== null) note(caller, 'names', names.warnings)
        ended = effect !== 'delete' && isExpired(args, context.services.now())
        // Noted in the receipt, so that a repeated call gets the same warning.
        if (ended) note(caller, 'ended', true)
        const found = await work({ ...context, principal: caller }, args)
        if (pending?.isGiven === false) note(caller, 'names', [])
        return found
      },
      recall: (trace) => recall(trace, args),
      answer: (found, noted = { ended, names: pending?.isGiven ? names.warnings : [] }) =>
        withWarnings(withWarning(answer(found, args), kinds), [
          ...addressWarnings(addresses),
          ...(noted.ended === true ? [EXPIRED_WARNING] : []),
          ...((noted.names ?? []) as string[]),
        ]),
      unfinished: unfinished && {
        when: unfinished.when,
        finish: (caller, found) => unfinished.finish({ ...context, principal: caller }, args, found),
      },
    }
    const carried =
      typeof key === 'string'
        ? await executeOnce({ ...context, key, args: rest, findsReceiptFirst: isCostly(args) }, writing)
        : await execute(context.principal, writing)
    if (carried.facts !== null && queuesWork(args, carried.facts)) family.afterWrite(context)
    return { structured: carried.result, blocks: [] }
  }
}
