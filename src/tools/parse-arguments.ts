import type * as z from 'zod'
import { MAX_TEXT_BYTES } from '../domain/entry/draft'
import { invalidInput, limitExceeded, Problem } from '../domain/errors'
import { LossyValues, MAX_DEPTH } from '../domain/json/lossy-values'
import { JsonParser, JsonTooLarge, MAX_STRING, TooManyValues } from '../domain/json/parser'
import { mostSimilarName } from '../domain/name-similarity'
import { unstorable } from '../domain/text'
import { givenAs, IssueCollector, issuesOf, shortForm, type ValidationIssue } from '../domain/validation'
import { exampleAt } from './examples'
import type { Family } from './family'
import type { JsonSchema } from './json-schema'
import { isRecord } from './record'
import { isText, MAX_MEMBERS } from './request-strings'

/** The effect of a call. Calls that read are parsed more leniently. */
export type Effect = 'read' | 'store' | 'change' | 'delete'

/**
 * Members that clients add to the arguments of every tool, each with its source.
 *
 * Reading tools report `action`, because it may be a typo of `actions`.
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

/** Arguments of writing tools that decide who can read the entry. */
const DECIDE_WHO_READS = ['audience', 'diary', 'project', 'projectPath']

/** Unknown names that a warning lists. */
const MAX_NAMES = 10
const LONGEST_NAME = 60

interface CleanArguments {
  readonly args: Record<string, unknown>
  /** Unknown arguments that are ignored. */
  readonly ignored: Readonly<Record<string, unknown>>
  /** Warnings about ignored arguments. */
  readonly warnings: readonly string[]
}

const propertiesOf = ({ properties }: JsonSchema): Record<string, JsonSchema> =>
  isRecord(properties) ? (properties as Record<string, JsonSchema>) : {}

/**
 * Removes members that clients add, and empty strings in optional arguments, which strict schemas make models send.
 *
 * Reading tools ignore unknown arguments and report them. Empty strings stay, and are refused, in tools that delete and in
 * arguments that decide who can read (core contract §4).
 *
 * @param shown the listed input schema of the tool
 */
export function withoutClientAdditions(
  shown: JsonSchema,
  given: Record<string, unknown>,
  effect: Effect,
): CleanArguments {
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
      if (++count <= MAX_NAMES) names.push(`"${name.slice(0, LONGEST_NAME)}"`)
    }
  }
  const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : ''
  const warnings = count === 0 ? [] : [`Ignored unknown arguments: ${names.join(', ')}${more}`]
  return { args: effect === 'delete' ? args : withoutBlanks(shown, args, effect), ignored, warnings }
}

/** Arguments of batches, whose items are treated as the arguments are. */
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

/** Suggests the most similar allowed name for an unknown argument. */
export function didYouMean(name: string, allowed: readonly string[]): string {
  const plain = (text: string) => text.replaceAll(/[_-]/g, '').toLowerCase()
  const same = allowed.find((one) => plain(one) === plain(name))
  const similar = same ?? mostSimilarName(name, allowed)
  return similar === null ? '' : ` Did you mean ${similar}?`
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  )
}

function schemaAt(schema: JsonSchema | undefined, path: readonly PropertyKey[]): JsonSchema | undefined {
  let at = schema
  for (const key of path)
    at = (
      typeof key === 'number' ? at?.items : (at?.properties as Record<string, JsonSchema> | undefined)?.[String(key)]
    ) as JsonSchema | undefined
  return at
}

/** Unknown names that an error lists. A caller may send tens of thousands. */
const MAX_KEYS = 20

function shortKeys(keys: readonly string[]): string {
  const more = keys.length - MAX_KEYS
  const names = keys.slice(0, MAX_KEYS).map((key) => `"${shortForm(key, MAX_NAME)}"`)
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Characters of an unknown name in an error. */
const MAX_NAME = 200
const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** Converts a schema issue to a Problem with details. */
export function describe(issue: z.core.$ZodIssue, shown: JsonSchema): Problem {
  const ruled = issue.code === 'custom' ? (issue.params?.problem as Problem | undefined) : undefined
  const { code, message } = ruled ?? worded(issue, shown)
  const rows = ruled === undefined ? [] : issuesOf(ruled)
  return new Problem(code, message, { details: rows.length > 0 ? rows : rowsOf(issue, shown) })
}

function rowsOf(issue: z.core.$ZodIssue, shown: JsonSchema): ValidationIssue[] {
  const { path, input } = issue
  if (issue.code !== 'unrecognized_keys')
    return [{ path: pathText(path), given: givenAs(input), example: exampleAt(path, schemaAt(shown, path)) }]
  const example = exampleAt(path, schemaAt(shown, path))
  return issue.keys.slice(0, MAX_KEYS).map((key) => ({
    path: pathText([...path, key]),
    given: givenAs(isRecord(input) ? input[key] : undefined),
    example,
  }))
}

function worded(issue: z.core.$ZodIssue, shown: JsonSchema): Problem {
  const path = issue.path
  const name = pathText(path)
  const missing = issue.input === undefined
  switch (issue.code) {
    case 'unrecognized_keys': {
      const properties = schemaAt(shown, path)?.properties ?? {}
      const where = name === '' ? 'argument' : `key in ${name}:`
      const allowed = Object.keys(properties)
      const hint = didYouMean(issue.keys[0] ?? '', allowed)
      return invalidInput(`Unknown ${where} ${shortKeys(issue.keys)}.${hint} Allowed: ${allowed.join(', ') || 'none'}`)
    }
    case 'invalid_type':
      if (missing && path.length > 0) return invalidInput(`Missing required field: ${name}`)
      return invalidInput(`${name || 'The arguments'} must be ${article(typeName(issue.expected))}`)
    case 'invalid_value':
      return invalidInput(
        issue.message.startsWith('Invalid')
          ? `${name} must be one of: ${issue.values.map(String).join(', ')}`
          : issue.message,
      )
    case 'too_big':
      return issue.origin === 'array'
        ? limitExceeded(`${name} has ${(issue.input as unknown[]).length} items; at most ${issue.maximum} are allowed`)
        : invalidInput(`${name} must be at most ${issue.maximum}`)
    case 'too_small':
      return issue.origin === 'array'
        ? invalidInput(`${name} must have at least ${issue.minimum} item${issue.minimum === 1 ? '' : 's'}`)
        : invalidInput(`${name} must be at least ${issue.minimum}`)
    case 'invalid_union': {
      if (missing && path.length > 0) return invalidInput(`Missing required field: ${name}`)
      const at = schemaAt(shown, path)
      const branches = (at?.anyOf as JsonSchema[] | undefined) ?? (at?.type === undefined ? [] : [at])
      const types = branches.map(({ type }) => String(type))
      return invalidInput(
        types.length === 0 ? `${name}: ${issue.message}` : `${name} must be ${types.map(article).join(' or ')}`,
      )
    }
    case 'custom':
      if (missing && path.length > 0) return invalidInput(`Missing required field: ${name}`)
      return invalidInput(issue.message)
    default:
      return invalidInput(`${name}: ${issue.message}`)
  }
}

const typeName = (expected: string): string =>
  ({ int: 'integer', record: 'object', nonoptional: 'value' })[expected] ?? expected

/**
 * Finds the first value that cannot be stored exactly, such as a large number or a deep object (platform contract §6).
 *
 * @param place name of the argument
 * @returns a Problem that names its path, or null
 */
export function findLossyValue(value: unknown, place: string): Problem | null {
  return findLossyAt(value, place, MAX_DEPTH)
}

function findLossyAt(value: unknown, place: string, levels: number): Problem | null {
  if (value instanceof LossyValues && value.flaw === 'too_long') return tooLong(place, value)
  if (value instanceof LossyValues)
    return value.flaw === 'too_deep'
      ? tooDeep(place)
      : invalidInput(`${place} ${value.reason}`, [{ path: place, given: givenAs(value), example: value.toString() }])
  const isList = Array.isArray(value)
  if (!isList && !isRecord(value)) return null
  if (levels === 0) return tooDeep(place)
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member !== 'object' || member === null) continue
    const found = findLossyAt(member, isList ? `${place}[${key}]` : `${place}.${key}`, levels - 1)
    if (found !== null) return found
  }
  return null
}

function tooLong(place: string, { reason }: LossyValues): Problem {
  const last = place.slice(Math.max(place.lastIndexOf('.'), place.lastIndexOf(']')) + 1)
  const what = isText(last)
    ? `at most ${MAX_TEXT_BYTES} UTF-8 bytes are allowed. Split it into several entries`
    : 'send less, or send a list or object as JSON itself'
  return limitExceeded(`${place} ${reason}; ${what}`)
}

/** Names only the argument, because the path would be as long as it is deep. */
function tooDeep(place: string): Problem {
  const [argument] = /^[^.[]*/.exec(place) as RegExpExecArray
  return limitExceeded(`${argument} is nested deeper than ${MAX_DEPTH} levels`)
}

/** Returns the error for arguments with more members and items than one request may have (platform contract §6). */
export const tooManyMembers = (): Problem =>
  limitExceeded(
    `The arguments have more than ${MAX_MEMBERS} members and items, counted at every depth; send less, or split it into several calls`,
  )

function countMembers(value: unknown): number {
  let count = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const at = open.pop()
    const members = Array.isArray(at) ? at : isRecord(at) ? Object.values(at) : []
    count += members.length
    for (const member of members) if (typeof member === 'object') open.push(member)
  }
  return count
}

/** Counts members in the arguments of one call. JSON values and values parsed from strings count alike. */
export class MemberBudget {
  private used: number | null = null

  constructor(private readonly args: unknown) {}

  /**
   * Parses JSON in a string.
   *
   * @throws Problem limit_exceeded if the arguments have too many members with it
   * @throws SyntaxError, JsonTooLarge
   */
  parse(text: string): unknown {
    const used = this.used ?? countMembers(this.args)
    const parser = new JsonParser({ maxValues: MAX_MEMBERS - used + 1 })
    try {
      parser.feed(text)
      return parser.end()
    } catch (error) {
      throw error instanceof TooManyValues ? tooManyMembers() : error
    } finally {
      // Members before a syntax error count too, because reading them took the same time.
      this.used = used + Math.max(0, parser.count - 1)
    }
  }
}

/**
 * Corrects common mistakes of clients (platform contract §3).
 *
 * Accepts arrays and objects as JSON strings, also encoded twice, numbers and booleans as strings, and null for an optional
 * argument. A place whose schema allows a string is never changed.
 *
 * @param budget members that JSON in strings may still have
 * @throws Problem limit_exceeded
 */
export function coerceArguments(schema: JsonSchema | undefined, value: unknown, budget: MemberBudget): unknown {
  switch (schema?.type) {
    case 'integer':
      return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
    case 'number':
      return typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value
    case 'boolean':
      return typeof value === 'string' && /^(true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value
    case 'array': {
      const list = listed(schema, parsed(value, Array.isArray, budget))
      return Array.isArray(list)
        ? list.map((item) => coerceArguments(schema.items as JsonSchema | undefined, item, budget))
        : list
    }
    case 'object': {
      const object = parsed(value, isRecord, budget)
      // The listed members of an open object are examples: null and all types keep their meaning.
      const isClosed = schema.properties && schema.additionalProperties !== true
      return isRecord(object) && isClosed ? members(schema, object, budget) : object
    }
    default:
      return value
  }
}

/** Items of a list sent as "1,2": one more than any list may have. */
const MAX_LISTED = 101

/** Accepts a single ID or word instead of a list, and IDs as "1,2". Other values stay unchanged. */
function listed(schema: JsonSchema, value: unknown): unknown {
  const items = schema.items as JsonSchema | undefined
  const types = Array.isArray(items?.anyOf) ? items.anyOf.map(({ type }) => type) : [items?.type]
  if (typeof value === 'number') return types.includes('integer') ? [value] : value
  if (typeof value !== 'string' || value === '' || /^\s*[[{"]/.test(value)) return value
  if (types.includes('integer')) {
    const ids = value.split(',', MAX_LISTED).map((id) => id.trim())
    if (ids.every((id) => /^\d+$/.test(id))) return ids
  }
  return types.includes('string') ? [value] : value
}

/** Accepts tags or kinds as "a,b". */
const wordList = (value: unknown): unknown =>
  typeof value === 'string' && !/^\s*[[{"]/.test(value)
    ? value.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]))
    : value

/** JSON in a string cannot be decoded while it arrives, so it is in memory twice. */
const MAX_JSON_STRING = MAX_STRING

/** Returns the value, or the value of its JSON text if that has the expected type. */
function parsed(value: unknown, wanted: (value: unknown) => boolean, budget: MemberBudget): unknown {
  let current = value
  for (let times = 0; times < 2 && typeof current === 'string'; times++) {
    if (!/^\s*["[{]/.test(current)) return value
    if (current.length > MAX_JSON_STRING)
      throw limitExceeded(
        `A list or object sent as a JSON string may have ${MAX_JSON_STRING} characters, this one has ` +
          `${current.length}; send it as JSON itself`,
      )
    try {
      current = budget.parse(current)
    } catch (error) {
      if (error instanceof JsonTooLarge) throw limitExceeded(error.message)
      if (error instanceof Problem) throw error
      return value
    }
    if (wanted(current)) return current
  }
  return value
}

/** Coerces declared members; null means absent. Undeclared members stay, so that the schema can name them. */
function members(schema: JsonSchema, object: Record<string, unknown>, budget: MemberBudget): Record<string, unknown> {
  const properties = schema.properties as Record<string, JsonSchema>
  const result: Record<string, unknown> = Object.create(null)
  for (const [key, member] of Object.entries(object)) {
    const declared = Object.hasOwn(properties, key)
    if (declared && member === null) continue
    const words = (key === 'tags' || key === 'kind') && properties[key]?.type === 'array' ? wordList(member) : member
    result[key] = declared ? coerceArguments(properties[key], words, budget) : member
  }
  return result
}

interface ParseOptions {
  readonly rules?: Family['parse']
  /** Checks the arguments that have the right type, to report all problems together. @throws Problem */
  readonly inspect?: (args: Record<string, unknown>) => void
  /** The effect of the call. Without it, arguments are not corrected: items of batches were corrected with their call. */
  readonly effect?: Effect
  /** Receives a warning about ignored arguments. */
  readonly warn?: (warning: string) => void
}

/**
 * Parses arguments into typed values.
 *
 * Strings that cannot be stored are refused here.
 *
 * @throws Problem that names every issue, each with its path, the given value and a valid example
 */
export function parseArguments<Schema extends z.ZodType>(
  schema: Schema,
  shown: JsonSchema,
  args: unknown,
  { rules, inspect, effect, warn }: ParseOptions = {},
): z.output<Schema> {
  refuseTooMany(args)
  const read = effect !== undefined && isRecord(args) ? withoutClientAdditions(shown, args, effect) : null
  for (const warning of read?.warnings ?? []) warn?.(warning)
  const value = coerceArguments(shown, read?.args ?? args ?? {}, new MemberBudget(args))
  const checked = rules ? withoutHandlerChecked(value, shown, rules) : value
  const wrong = new IssueCollector()
  const lossy = noteLossyValues(checked, wrong)
  // Ignored arguments have the same limits as others.
  if (read !== null) noteLossyValues(read.ignored, wrong)
  noteUnstorable(checked, '', wrong)
  const result = schema.safeParse(value, { reportInput: true })
  for (const issue of result.error?.issues ?? [])
    if (!lossy.has(issue.path[0] as PropertyKey)) wrong.note(describe(issue, shown))
  if (wrong.found && inspect && isRecord(value)) wrong.check('', value, () => inspect(value))
  wrong.end()
  return result.data as z.output<Schema>
}

/** Refuses arguments that the parser dropped because of too many members. @throws Problem limit_exceeded */
function refuseTooMany(args: unknown): void {
  if (!isRecord(args)) return
  for (const argument of Object.values(args))
    if (argument instanceof LossyValues && argument.flaw === 'too_many') throw tooManyMembers()
}

/** Returns the arguments that are valid on their own, as the handler would receive them. */
export const soundArguments = <Input extends z.ZodObject>(
  input: Input,
  args: Record<string, unknown>,
): Partial<z.output<Input>> =>
  Object.fromEntries(
    Object.entries(input.shape).flatMap(([name, field]) => {
      const { data } = (field as z.ZodType).safeParse(args[name])
      return data === undefined ? [] : [[name, data]]
    }),
  ) as Partial<z.output<Input>>

/** Reports whether each named argument is valid or absent, so that a rule about their combination can be applied. */
export const areSound = (args: Record<string, unknown>, sound: object, names: readonly string[]): boolean =>
  names.every((name) => args[name] === undefined || name in sound)

/** Removes the arguments that the handler checks itself. */
const withoutHandlerChecked = (value: unknown, shown: JsonSchema, { leaves }: Family['parse']): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !leaves(name, shown))) : value

/** Notes values that cannot be stored exactly. @returns the arguments that contain them */
function noteLossyValues(value: unknown, wrong: IssueCollector): Set<PropertyKey> {
  const names = new Set<PropertyKey>()
  for (const [name, argument] of isRecord(value) ? Object.entries(value) : []) {
    const problem = findLossyValue(argument, name)
    if (problem === null) continue
    names.add(name)
    wrong.check(name, argument, () => {
      throw problem
    })
  }
  return names
}

/** Notes strings and member names that cannot be stored, at any depth. */
function noteUnstorable(value: unknown, place: string, wrong: IssueCollector): void {
  if (typeof value === 'string') {
    const reason = unstorable(value)
    if (reason !== null)
      wrong.refuse(place, value, `${place || 'The arguments'} ${reason}; remove it and send the text again`)
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => {
      noteUnstorable(item, `${place}[${i}]`, wrong)
    })
  } else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      noteUnstorable(key, place === '' ? 'An argument name' : `A key in ${place}`, wrong)
      noteUnstorable(member, place === '' ? key : `${place}.${key}`, wrong)
    }
  }
}
