import * as z from 'zod'
import { limitExceeded, type Problem } from '../domain/errors'
import { LossyValues } from '../domain/json/lossy-values'
import { jsonText } from '../domain/json/write'
import { and, type Filter, type MetadataPath, not, type Scalar, type ScalarType } from '../domain/search/filter'
import { unstorable, utf8Length } from '../domain/text'
import { shortForm } from '../domain/validation'
import { isRecord } from './record'

/** The operators that callers may use. */
export const OPERATORS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'not_in',
  'exists',
  'not_exists',
  'contains',
  'starts_with',
  'ends_with',
  'is_null',
  'is_not_null',
  'array_contains',
] as const

export type Operator = (typeof OPERATORS)[number]

/** Operators without a value, and operators with a list. All others compare with one value. */
const WITHOUT_VALUE = ['exists', 'not_exists', 'is_null', 'is_not_null'] as const satisfies readonly Operator[]
const WITH_LIST = ['in', 'not_in'] as const satisfies readonly Operator[]
export const takesNoValue = (operator: string): boolean => WITHOUT_VALUE.some((one) => one === operator)
export const takesList = (operator: string): boolean => WITH_LIST.some((one) => one === operator)

const KEY = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** Parses a key into a path; null if filters cannot address it. */
export function readPath(key: string): MetadataPath | null {
  if (!KEY.test(key)) return null
  const path = key.split('.')
  return path.slice(1).some((name) => /^\d+$/.test(name)) ? null : path
}

/** Returns the reason why a value cannot be compared as a scalar, or null. */
export function scalarProblem(value: unknown): string | null {
  if (value === undefined) return 'a value is needed'
  if (value === null) return 'null is not a value here; use is_null or not_exists'
  const bad = typeof value === 'string' ? unstorable(value) : null
  if (bad !== null) return `the value ${bad}`
  if (value instanceof LossyValues) return `the value ${value.reason}`
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
    ? null
    : 'the value must be a string, number or boolean'
}

const typeOf = (value: Scalar): ScalarType => typeof value as ScalarType

type Read = { readonly filter: Filter } | { readonly reason: string }

const reason = (text: string): Read => ({ reason: text })
const filter = (value: Filter): Read => ({ filter: value })

function readList(path: MetadataPath, value: unknown, fold: boolean): Read {
  if (!Array.isArray(value)) return reason('the value must be a list')
  if (value.length === 0) return reason('the list is empty')
  if (value.length > 100) return reason(`the list has ${value.length} members; at most 100 are allowed`)
  const bad = value.map(scalarProblem).find((problem) => problem !== null)
  return bad === undefined || bad === null
    ? filter({ op: 'equals', path, anyOf: value as Scalar[], fold })
    : reason(`in the list: ${bad}`)
}

function readScalar(operator: ScalarOperator, path: MetadataPath, value: Scalar, fold: boolean): Read {
  const same: Filter = { op: 'equals', path, anyOf: [value], fold }
  switch (operator) {
    case 'eq':
      return filter(same)
    case 'ne':
      return filter(and([{ op: 'type', path, is: typeOf(value) }, not(same)]))
    case 'array_contains':
      return filter({ op: 'elements', path, allOf: [value], fold })
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value === 'boolean') return reason('booleans have no order; use eq')
      return filter({ op: 'compare', path, by: operator, value })
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      if (typeof value !== 'string') return reason(`${operator} needs a string`)
      return filter({ op: 'substring', path, at: PLACES[operator], value, fold })
  }
}

const PLACES = { contains: 'anywhere', starts_with: 'start', ends_with: 'end' } as const

/** Operators that compare with one value. A new operator does not compile until `readScalar` or `readOperator` handles it. */
type ScalarOperator = Exclude<Operator, (typeof WITHOUT_VALUE)[number] | (typeof WITH_LIST)[number]>

function readOperator(operator: Operator, path: MetadataPath, value: unknown, fold: boolean): Read {
  switch (operator) {
    case 'exists':
    case 'is_not_null':
      return filter({ op: 'present', path })
    case 'not_exists':
      return filter(not({ op: 'present', path }))
    case 'is_null':
      return filter({ op: 'null', path })
    case 'in':
      return readList(path, value, fold)
    case 'not_in': {
      const list = readList(path, value, fold)
      return 'filter' in list ? filter(and([{ op: 'present', path }, not(list.filter)])) : list
    }
    default: {
      const problem = scalarProblem(value)
      return problem === null ? readScalar(operator, path, value as Scalar, fold) : reason(problem)
    }
  }
}

const MEMBERS = ['key', 'operator', 'value', 'case_sensitive']

export function readMetadataFilter(given: unknown): Read {
  if (!isRecord(given)) return reason('a filter is an object with key, operator and value')
  const unknown = Object.keys(given).find((member) => !MEMBERS.includes(member))
  if (unknown !== undefined) return reason(`unknown member "${shortForm(unknown)}"; allowed are ${MEMBERS.join(', ')}`)
  const { key, operator = 'eq', value, case_sensitive: exact = false } = given
  if (typeof key !== 'string') return reason('the key is missing')
  const path = readPath(key)
  if (path === null)
    return reason('a key is letters, digits, "_" and "-", with dots between levels and no number below the first level')
  if (!OPERATORS.includes(operator as Operator))
    return reason(`unknown operator "${shortForm(operator)}"; use one of ${OPERATORS.join(', ')}`)
  if (typeof exact !== 'boolean') return reason('case_sensitive must be true or false')
  // Applies to operators without a value too: a value that no entry can store is refused everywhere.
  const lossy = [value].flat().find((member) => member instanceof LossyValues)
  if (lossy !== undefined) return reason(`the value ${lossy.reason}`)
  return readOperator(operator as Operator, path, value, !exact)
}

/** Returns a valid value for an operator. */
function rightValue(operator: Operator): { readonly value?: Scalar | readonly Scalar[] } {
  if (takesNoValue(operator)) return {}
  if (takesList(operator)) return { value: ['done', 'doing'] }
  return { value: ['gt', 'gte', 'lt', 'lte'].includes(operator) ? 3 : 'done' }
}

/** Returns a valid filter that is as similar to a wrong one as possible: with its key and operator if they are valid. */
export function rightFilter(given: unknown): Record<string, unknown> {
  const { key, operator } = isRecord(given) ? given : {}
  const right = OPERATORS.find((one) => one === operator) ?? 'eq'
  return {
    key: typeof key === 'string' && readPath(key) !== null ? key : 'status',
    operator: right,
    ...rightValue(right),
  }
}

const SCALAR = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }]

// Items are checked together, so that all problems are reported at once.
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
/** Filters that are read; the schema refuses longer lists. */
const MAX_READ = 100

/** A rejected filter: its text in `validation_errors`, and its path. */
export interface BadFilter {
  readonly error: string
  readonly path: string
  readonly value: unknown
  /** A valid value, if the argument name is not enough to choose one. */
  readonly example?: unknown
}

const tooMany = (count: number): BadFilter => ({
  error: `metadata has ${count} keys; at most ${MAX_METADATA_KEYS} are allowed`,
  path: 'metadata',
  value: undefined,
})

/** Reads the argument `metadata`: exact values by key. @param bad receives rejected conditions */
export function readMetadata(metadata: Record<string, unknown>, bad: BadFilter[]): Filter[] {
  const entries = Object.entries(metadata)
  if (entries.length > MAX_METADATA_KEYS) bad.push(tooMany(entries.length))
  return entries.slice(0, MAX_METADATA_KEYS).flatMap(([key, value]): Filter[] => {
    const path = readPath(key)
    const problem = path === null ? 'a key is letters, digits, "_", "-" and dots between levels' : scalarProblem(value)
    if (path !== null && problem === null) return [{ op: 'equals', path, anyOf: [value as Scalar], fold: false }]
    bad.push({
      error: `Invalid metadata key "${shortForm(key)}": ${problem}`,
      path: `metadata.${shortForm(key)}`,
      value,
    })
    return []
  })
}

/** Reads the argument `metadata_filters`. @param bad receives rejected filters */
export function readMetadataFilters(filters: readonly unknown[], bad: BadFilter[]): Filter[] {
  return filters.slice(0, MAX_READ).flatMap((given, index): Filter[] => {
    const read = readMetadataFilter(given)
    if ('filter' in read) return [read.filter]
    const key = isRecord(given) && typeof given.key === 'string' ? given.key : ''
    bad.push({
      error: `Invalid metadata filter at index ${index} (key "${shortForm(key)}"): ${read.reason}`,
      path: `metadata_filters[${index}]`,
      value: given,
      example: rightFilter(given),
    })
    return []
  })
}

/**
 * Maximum bytes of JSON of all conditions in a call.
 *
 * This is twice the maximum of an entry's metadata (platform contract §6), and less than half of the 2 MB that a D1 value may
 * have, because strings are sent folded and unchanged.
 */
const MAX_BYTES = 524_288

/** Returns a problem if the conditions together are too large, else null. */
export function oversized(metadata: Record<string, unknown>, filters: readonly unknown[]): Problem | null {
  const bytes = utf8Length(jsonText([metadata, filters]))
  return bytes <= MAX_BYTES
    ? null
    : limitExceeded(
        `metadata and metadata_filters together hold ${bytes} bytes of JSON; at most ${MAX_BYTES} are allowed: search for less at once`,
      )
}
