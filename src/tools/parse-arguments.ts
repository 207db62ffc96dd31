import type { z } from 'zod'
import { invalidInput, limitExceeded, type Problem } from '../domain/errors'
import { unstorable } from '../domain/text'
import type { Family } from './family'
import type { JsonSchema } from './json-schema'
import { unkeptIn } from './kept'
import { lenient } from './lenient'
import { isRecord } from './record'

export interface ParseOptions {
  readonly rules?: Family['parse']
  /** Where the value stands, when it is not the whole of the arguments (`entries[2]`). */
  readonly place?: string
}

/**
 * Arguments to typed values, or one sentence that names what is wrong. Everything a string may not hold is refused here,
 * at the door.
 */
export function parseArguments<Schema extends z.ZodType>(
  schema: Schema,
  shown: JsonSchema,
  args: unknown,
  { rules, place = '' }: ParseOptions = {},
): z.output<Schema> {
  const value = lenient(shown, args ?? {})
  const judged = rules ? withoutLeft(value, shown, rules) : value
  refuseUnkept(judged, place)
  refuseUnstorable(judged, place)
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  throw describe(result.error.issues[0] as z.core.$ZodIssue, shown, place)
}

export function pathText(path: readonly PropertyKey[], place = ''): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    place,
  )
}

/** The arguments without those that the handler judges itself. */
const withoutLeft = (value: unknown, shown: JsonSchema, { leaves }: Family['parse']): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !leaves(name, shown))) : value

function refuseUnkept(value: unknown, place: string): void {
  for (const [name, argument] of isRecord(value) ? Object.entries(value) : []) {
    const problem = unkeptIn(argument, place === '' ? name : `${place}.${name}`)
    if (problem !== null) throw problem
  }
}

/** Looks through every string and member name, however deep. */
function refuseUnstorable(value: unknown, place: string): void {
  if (typeof value === 'string') {
    const reason = unstorable(value)
    if (reason !== null) throw invalidInput(`${place || 'The arguments'} ${reason}; remove it and send the text again`)
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => {
      refuseUnstorable(item, `${place}[${i}]`)
    })
  } else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      refuseUnstorable(key, place === '' ? 'An argument name' : `A key in ${place}`)
      refuseUnstorable(member, place === '' ? key : `${place}.${key}`)
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

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

function describe(issue: z.core.$ZodIssue, shown: JsonSchema, place: string): Problem {
  const path = issue.path
  const name = pathText(path, place)
  const missing = issue.input === undefined
  switch (issue.code) {
    case 'unrecognized_keys': {
      const properties = schemaAt(shown, path)?.properties ?? {}
      const where = name === '' ? 'argument' : `key in ${name}:`
      return invalidInput(
        `Unknown ${where} ${issue.keys.map((key) => `"${key}"`).join(', ')}. Allowed: ${Object.keys(properties).join(', ')}`,
      )
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
    case 'custom':
      return invalidInput(missing && path.length > 0 ? `Missing required field: ${name}` : issue.message)
    default:
      return invalidInput(`${name}: ${issue.message}`)
  }
}

const typeName = (expected: string): string =>
  ({ int: 'integer', record: 'object', nonoptional: 'value' })[expected] ?? expected
