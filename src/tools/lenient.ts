import { limitExceeded, Problem } from '../domain/errors'
import { JsonTooLarge } from '../domain/json/parser'
import { MAX_STRING } from '../domain/json/string-reader'
import type { JsonSchema } from './json-schema'
import type { MemberBudget } from './member-budget'
import { isRecord } from './record'

/**
 * Forgives what clients in the field get wrong (platform contract §3): arrays and objects sent as JSON strings, also
 * encoded twice; numbers and booleans sent as strings; null for an optional argument. A place whose schema allows a
 * string is never touched.
 *
 * @param budget what JSON in strings may still hold
 * @throws Problem limit_exceeded
 */
export function lenient(schema: JsonSchema | undefined, value: unknown, budget: MemberBudget): unknown {
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
        ? list.map((item) => lenient(schema.items as JsonSchema | undefined, item, budget))
        : list
    }
    case 'object': {
      const object = parsed(value, isRecord, budget)
      // The members that an open object lists are examples: null and every type keep their meaning.
      const isClosed = schema.properties && schema.additionalProperties !== true
      return isRecord(object) && isClosed ? members(schema, object, budget) : object
    }
    default:
      return value
  }
}

/** Items of a list that is sent as "1,2": one more than any list may have. */
const MAX_LISTED = 101

/** A single id or word where a list of them is expected, and ids as "1,2". Other values stay as they are. */
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

/** Tags or kinds as "a,b". */
const wordList = (value: unknown): unknown =>
  typeof value === 'string' && !/^\s*[[{"]/.test(value)
    ? value.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]))
    : value

/** What is inside a string cannot be decoded as it arrives, so it stands in memory twice. */
const MAX_JSON_STRING = MAX_STRING

/** The value, or what its JSON text holds when that is of the wanted type. */
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

/** Declared members are forgiven one by one; null means absent. Undeclared ones stay, so that the check can name them. */
function members(schema: JsonSchema, object: Record<string, unknown>, budget: MemberBudget): Record<string, unknown> {
  const properties = schema.properties as Record<string, JsonSchema>
  const result: Record<string, unknown> = Object.create(null)
  for (const [key, member] of Object.entries(object)) {
    const declared = Object.hasOwn(properties, key)
    if (declared && member === null) continue
    const words = (key === 'tags' || key === 'kind') && properties[key]?.type === 'array' ? wordList(member) : member
    result[key] = declared ? lenient(properties[key], words, budget) : member
  }
  return result
}
