import * as z from 'zod'
import { MAX_OFFSET } from '../domain/search/window'
import { isRecord } from './record'

export type JsonSchema = { readonly [key: string]: unknown }

type Side = 'input' | 'output'

/** The most common maximum of lists. Schemas omit it, because the error names it. */
const COMMON_CAP = 100

/** Reports whether a keyword is not worth its tokens: bounds that callers never reach by mistake, and obvious defaults. */
function isNoise(keyword: string, value: unknown, side: Side, isRoot: boolean): boolean {
  switch (keyword) {
    case 'maximum':
      return value === Number.MAX_SAFE_INTEGER || value === MAX_OFFSET
    case 'minimum':
      return value === Number.MIN_SAFE_INTEGER || value === 0
    case 'default':
      return value === false || value === 0
    case 'maxItems':
      return value === COMMON_CAP
    case 'additionalProperties':
      // Items refuse unknown members anyway. An open object must be explicit, because strict modes close it otherwise.
      return side === 'output' || (value === false && !isRoot)
    case 'required':
      // Results may have more members than declared, and error results have fewer.
      return side === 'output'
    case 'properties':
      return isRecord(value) && Object.keys(value).length === 0 && !isRoot
    default:
      return false
  }
}

/**
 * Reduces a schema to constructs that every large client accepts, without keywords that only cost tokens (platform contract §3,
 * "Made for models").
 */
function plain(schema: JsonSchema, side: Side, isRoot: boolean): JsonSchema {
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (isNoise(keyword, value, side, isRoot)) continue
    if (keyword === 'type' && Array.isArray(value)) result.anyOf = value.map((type: unknown) => ({ type }))
    else if (keyword === 'const') result.enum = [value]
    else if (keyword === 'items') result.items = plain(value as JsonSchema, side, false)
    else if (keyword === 'anyOf') result.anyOf = (value as JsonSchema[]).map((branch) => plain(branch, side, false))
    else if (keyword === 'properties')
      result.properties = Object.fromEntries(
        Object.entries(value as Record<string, JsonSchema>).map(([name, one]) => [name, plain(one, side, false)]),
      )
    else result[keyword] = value
  }
  return result
}

/** Converts a zod schema to the JSON Schema that clients see, without the dialect line. */
export function toJsonSchema(schema: z.ZodType, side: Side): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: side, unrepresentable: 'any' })
  return plain(rest, side, true)
}
