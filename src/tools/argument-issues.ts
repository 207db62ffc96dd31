import type * as z from 'zod'
import { invalidInput, limitExceeded, Problem } from '../domain/errors'
import { type Flaw, flawsOf, givenAs, shortened } from '../domain/flaws'
import { exampleAt } from './examples'
import { didYouMean } from './forgiving'
import type { JsonSchema } from './json-schema'
import { isRecord } from './record'

/** What a schema finds wrong with arguments, in words: each with its path, what was expected, and what stands there. */

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

/** Unknown names that an error tells: a caller may send tens of thousands. */
const MAX_KEYS = 20

function shortKeys(keys: readonly string[]): string {
  const more = keys.length - MAX_KEYS
  const names = keys.slice(0, MAX_KEYS).map((key) => `"${shortened(key, MAX_NAME)}"`)
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Characters of an unknown name. */
const MAX_NAME = 200
const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** One issue as a Problem with its rows of details. */
export function describe(issue: z.core.$ZodIssue, shown: JsonSchema): Problem {
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
