import type { z } from 'zod'
import { invalidInput, limitExceeded, Problem } from '../domain/errors'
import { type Flaw, flawsOf, givenAs, Inspection, told } from '../domain/flaws'
import { unstorable } from '../domain/text'
import { exampleAt } from './examples'
import type { Family } from './family'
import type { JsonSchema } from './json-schema'
import { unkeptIn } from './kept'
import { lenient } from './lenient'
import { isRecord } from './record'

export interface ParseOptions {
  readonly rules?: Family['parse']
  /** Looks at arguments that are wrong elsewhere, for what the handler would have found in the others. @throws Problem */
  readonly inspect?: (args: Record<string, unknown>) => void
}

/**
 * Arguments to typed values, or one Problem that names everything that is wrong, each with its path, what was given and a
 * right example. Everything a string may not hold is refused here, at the door.
 */
export function parseArguments<Schema extends z.ZodType>(
  schema: Schema,
  shown: JsonSchema,
  args: unknown,
  { rules, inspect }: ParseOptions = {},
): z.output<Schema> {
  const value = lenient(shown, args ?? {})
  const judged = rules ? withoutLeft(value, shown, rules) : value
  const wrong = new Inspection()
  const unkept = noteUnkept(judged, wrong)
  noteUnstorable(judged, '', wrong)
  const result = schema.safeParse(value, { reportInput: true })
  for (const issue of result.error?.issues ?? [])
    if (!unkept.has(issue.path[0] as PropertyKey)) wrong.note(describe(issue, shown))
  if (wrong.found && inspect && isRecord(value)) wrong.check('', value, () => inspect(value))
  wrong.end()
  return result.data as z.output<Schema>
}

export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  )
}

/** Those of the arguments that are right by themselves, as the handler would get them. */
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

/** The arguments without those that the handler judges itself. */
const withoutLeft = (value: unknown, shown: JsonSchema, { leaves }: Family['parse']): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !leaves(name, shown))) : value

/** What could not be kept as it was sent. @returns the arguments in which that is */
function noteUnkept(value: unknown, wrong: Inspection): Set<PropertyKey> {
  const names = new Set<PropertyKey>()
  for (const [name, argument] of isRecord(value) ? Object.entries(value) : []) {
    const problem = unkeptIn(argument, name)
    if (problem === null) continue
    names.add(name)
    wrong.check(name, argument, () => {
      throw problem
    })
  }
  return names
}

/** Looks through every string and member name, however deep. */
function noteUnstorable(value: unknown, place: string, wrong: Inspection): void {
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

function schemaAt(schema: JsonSchema | undefined, path: readonly PropertyKey[]): JsonSchema | undefined {
  let at = schema
  for (const key of path)
    at = (
      typeof key === 'number' ? at?.items : (at?.properties as Record<string, JsonSchema> | undefined)?.[String(key)]
    ) as JsonSchema | undefined
  return at
}

/** Unknown names that an error tells: a caller may send tens of thousands. */
const MAX_KEYS = 20

function toldKeys(keys: readonly string[]): string {
  const more = keys.length - MAX_KEYS
  const names = keys.slice(0, MAX_KEYS).map((key) => `"${told(key, MAX_NAME)}"`)
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
/** Characters of an unknown name. */
const MAX_NAME = 200

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** One issue as a Problem with its rows of details. */
function describe(issue: z.core.$ZodIssue, shown: JsonSchema): Problem {
  const ruled = issue.code === 'custom' ? (issue.params?.problem as Problem | undefined) : undefined
  const { code, message } = ruled ?? worded(issue, shown)
  const rows = ruled === undefined ? [] : flawsOf(ruled)
  return new Problem(code, message, { details: rows.length > 0 ? rows : rowsOf(issue, shown) })
}

function rowsOf(issue: z.core.$ZodIssue, shown: JsonSchema): Flaw[] {
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
      return invalidInput(`Unknown ${where} ${toldKeys(issue.keys)}. Allowed: ${Object.keys(properties).join(', ')}`)
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
      const types = ((schemaAt(shown, path)?.anyOf as JsonSchema[] | undefined) ?? []).map(({ type }) => String(type))
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
