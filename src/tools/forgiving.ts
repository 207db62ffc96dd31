import { mostSimilarName } from '../domain/name-similarity'
import type { JsonSchema } from './json-schema'
import { isRecord } from './record'

/** The input of clients that is forgiven; never what decides what is deleted or who may read (core contract §4). */

/** The effect of a call: reading calls forgive more. */
export type Effect = 'read' | 'store' | 'change' | 'delete'

/**
 * Members that clients add to the arguments of every tool, each with its source. `action` may also be meant for `actions`, so that reading
 * tools report it.
 */
const CLIENT_ADDITIONS: Readonly<Record<string, string>> = {
  task_progress: 'Cline: cline/cline#8256, #10426',
  toolCallId: 'n8n: n8n-io/n8n#21500',
  action: 'n8n: n8n-io/n8n#22787',
  chatInput: 'n8n: n8n-io/n8n#22787',
  sessionId: 'n8n: n8n-io/n8n#22787',
  random_string: 'Cursor, for tools without required arguments',
  wait_for_previous: 'Gemini CLI',
  waitForPreviousTools: 'Antigravity, Windsurf',
  toolAction: 'Antigravity, Windsurf',
  toolSummary: 'Antigravity, Windsurf',
  _meta: 'clients that put the metadata of the request into the arguments',
}

/** Arguments of writing tools that decide who may read what is written. */
const DECIDE_WHO_READS = ['audience', 'diary', 'project', 'projectPath']

/** Unknown names that a warning lists. */
const MAX_NAMES = 10
const MAX_NAME = 60

interface Forgiven {
  readonly args: Record<string, unknown>
  /** Unknown arguments that are not carried out. */
  readonly ignored: Readonly<Record<string, unknown>>
  /** Sentences for the caller about what was ignored. */
  readonly warnings: readonly string[]
}

const propertiesOf = ({ properties }: JsonSchema): Record<string, JsonSchema> =>
  isRecord(properties) ? (properties as Record<string, JsonSchema>) : {}

/**
 * Arguments without what clients add, and without empty strings for optional arguments, which strict schemas make models send. Reading
 * tools ignore every unknown argument and report it. An empty string is left in place, to be refused, in every argument of a tool that
 * deletes and in arguments that decide who may read.
 *
 * @param shown the listed input schema of the tool
 */
export function forgiven(shown: JsonSchema, given: Record<string, unknown>, effect: Effect): Forgiven {
  const properties = propertiesOf(shown)
  const args: Record<string, unknown> = Object.create(null)
  const ignored: Record<string, unknown> = Object.create(null)
  const names: string[] = []
  let count = 0
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(properties, name)) args[name] = value
    else if (Object.hasOwn(CLIENT_ADDITIONS, name) && !(effect === 'read' && name === 'action')) continue
    else if (effect !== 'read') args[name] = value
    else {
      ignored[name] = value
      if (++count <= MAX_NAMES) names.push(`"${name.slice(0, MAX_NAME)}"`)
    }
  }
  const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : ''
  const warnings = count === 0 ? [] : [`Ignored unknown arguments: ${names.join(', ')}${more}`]
  return { args: effect === 'delete' ? args : withoutBlanks(shown, args, effect), ignored, warnings }
}

/** Arguments of batches, whose items are forgiven as the arguments are. */
const ITEMS = ['entries', 'updates']

function withoutBlanks(shown: JsonSchema, given: Record<string, unknown>, effect: Effect): Record<string, unknown> {
  const properties = propertiesOf(shown)
  const required: readonly unknown[] = Array.isArray(shown.required) ? shown.required : []
  const kept: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    const isProtected = effect !== 'read' && DECIDE_WHO_READS.includes(name)
    if (value === '' && schema !== undefined && !required.includes(name) && !isProtected) continue
    const items = ITEMS.includes(name) ? (schema?.items as JsonSchema | undefined) : undefined
    kept[name] =
      Array.isArray(value) && items !== undefined && isRecord(items.properties)
        ? value.map((item) => (isRecord(item) ? withoutBlanks(items, item, effect) : item))
        : value
  }
  return kept
}

/** The hint of an error about an unknown argument: the allowed name that is most similar. */
export function didYouMean(name: string, allowed: readonly string[]): string {
  const plain = (text: string) => text.replaceAll(/[_-]/g, '').toLowerCase()
  const same = allowed.find((one) => plain(one) === plain(name))
  const similar = same ?? mostSimilarName(name, allowed)
  return similar === null ? '' : ` Did you mean ${similar}?`
}
