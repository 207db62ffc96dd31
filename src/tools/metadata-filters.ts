import * as z from 'zod'
import { limitExceeded, type Problem } from '../domain/errors'
import { shortened } from '../domain/flaws'
import { jsonText } from '../domain/json/write'
import type { Filter, Scalar } from '../domain/search/filter'
import { utf8Length } from '../domain/text'
import { OPERATORS, readMetadataFilter, readPath, scalarProblem } from './metadata-condition'
import { isRecord } from './record'
import { rightFilter } from './right-filter'

/** Conditions on metadata, from the wire to the one filter tree (threads contract §5). */

const SCALAR = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }]

// Whatever an item is, it is judged with the others, so that all that is wrong is said at once.
export const metadataFilter = z.unknown().meta({
  type: 'object',
  required: ['key'],
  properties: {
    key: { type: 'string', description: 'a.b: nested' },
    operator: { type: 'string', enum: [...OPERATORS], default: 'eq' },
    value: {
      anyOf: [...SCALAR, { type: 'array', items: { anyOf: SCALAR, description: 'Member' } }],
    },
    case_sensitive: { type: 'boolean' },
  },
  description: 'Condition',
})

const MAX_METADATA_KEYS = 100
/** Filters that are read; the schema refuses a list with more. */
const MAX_READ = 100

/** A bad filter: what `validation_errors` says of it, and where it stands. */
export interface BadFilter {
  readonly error: string
  readonly path: string
  readonly value: unknown
  /** What would be right there, where the name of the argument alone does not tell. */
  readonly example?: unknown
}

const tooMany = (count: number): BadFilter => ({
  error: `metadata has ${count} keys; at most ${MAX_METADATA_KEYS} are allowed`,
  path: 'metadata',
  value: undefined,
})

/** The argument `metadata`: exact values by key. @param bad takes what is wrong */
export function readMetadata(metadata: Record<string, unknown>, bad: BadFilter[]): Filter[] {
  const entries = Object.entries(metadata)
  if (entries.length > MAX_METADATA_KEYS) bad.push(tooMany(entries.length))
  return entries.slice(0, MAX_METADATA_KEYS).flatMap(([key, value]): Filter[] => {
    const path = readPath(key)
    const problem = path === null ? 'a key is letters, digits, "_", "-" and dots between levels' : scalarProblem(value)
    if (path !== null && problem === null) return [{ op: 'equals', path, anyOf: [value as Scalar], fold: false }]
    bad.push({
      error: `Invalid metadata key "${shortened(key)}": ${problem}`,
      path: `metadata.${shortened(key)}`,
      value,
    })
    return []
  })
}

/** The argument `metadata_filters`. @param bad takes what is wrong */
export function readMetadataFilters(filters: readonly unknown[], bad: BadFilter[]): Filter[] {
  return filters.slice(0, MAX_READ).flatMap((given, index): Filter[] => {
    const read = readMetadataFilter(given)
    if ('filter' in read) return [read.filter]
    const key = isRecord(given) && typeof given.key === 'string' ? given.key : ''
    bad.push({
      error: `Invalid metadata filter at index ${index} (key "${shortened(key)}"): ${read.reason}`,
      path: `metadata_filters[${index}]`,
      value: given,
      example: rightFilter(given),
    })
    return []
  })
}

/**
 * Bytes of JSON that all conditions of a call may hold. Twice as many as the metadata of an entry (platform contract §6), so a larger one
 * could equal nothing; and of the 2 MB that a value of D1 holds less than half, since strings travel folded and as they are.
 */
const MAX_BYTES = 524_288

/** What is wrong with conditions that are too large together, or null. */
export function oversized(metadata: Record<string, unknown>, filters: readonly unknown[]): Problem | null {
  const bytes = utf8Length(jsonText([metadata, filters]))
  return bytes <= MAX_BYTES
    ? null
    : limitExceeded(
        `metadata and metadata_filters together hold ${bytes} bytes of JSON; at most ${MAX_BYTES} are allowed: search for less at once`,
      )
}
