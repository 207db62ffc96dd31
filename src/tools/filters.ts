import { z } from 'zod'
import { checkThreadId } from '../domain/draft'
import { invalidInput, Problem } from '../domain/errors'
import { and, type Filter, type MetadataPath, not, type Scalar, type ScalarType } from '../domain/filter'
import { Unkept } from '../domain/json/unkept'
import { normalizeTags } from '../domain/tags'
import { unstorable } from '../domain/text'
import { formatSecond, parseDateBound } from '../domain/time'
import { jsonObject, source, tags } from './fields'
import { isRecord } from './record'

/** The eight filter arguments that all searches share, folded onto the one filter tree (threads contract §4, §5). */
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

const SCALAR = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }]

// Whatever an item is, it is judged with the others, so that all that is wrong is said at once.
const metadataFilter = z.unknown().meta({
  type: 'object',
  required: ['key'],
  properties: {
    key: { type: 'string', description: 'a.b goes down one level' },
    operator: { type: 'string', enum: [...OPERATORS], default: 'eq' },
    value: {
      anyOf: [...SCALAR, { type: 'array', items: { anyOf: SCALAR, description: 'Member' } }],
    },
    case_sensitive: { type: 'boolean' },
  },
  description: 'Condition',
})

export const filterFields = {
  thread_id: z.string().optional().meta({ description: 'Only this thread' }),
  source: source('Only by this source').optional(),
  tags: tags('Any of these tags').optional(),
  content_type: z.enum(['text', 'multimodal']).optional().meta({ description: 'multimodal: with images' }),
  metadata: jsonObject('Exact values by key: {"status": "done"}').optional(),
  metadata_filters: z.array(metadataFilter).max(100).optional().meta({ description: 'All must hold' }),
  start_date: z.string().optional().meta({ description: 'Created from: ISO 8601 date or time' }),
  end_date: z.string().optional().meta({ description: 'Created until; a date is a whole day' }),
}

export type FilterArguments = { [Key in keyof typeof filterFields]?: z.output<(typeof filterFields)[Key]> }

const MAX_METADATA_KEYS = 100
const KEY = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** Null when the key is not one that filters can reach. */
function readPath(key: string): MetadataPath | null {
  if (!KEY.test(key)) return null
  const path = key.split('.')
  return path.slice(1).some((name) => /^\d+$/.test(name)) ? null : path
}

/** A reason why the value is no scalar that can be compared, or null. */
function scalarProblem(value: unknown): string | null {
  if (value === undefined) return 'a value is needed'
  if (value === null) return 'null is no value here; use is_null or not_exists'
  const bad = typeof value === 'string' ? unstorable(value) : null
  if (bad !== null) return `the value ${bad}`
  if (value instanceof Unkept) return `the value ${value.reason}`
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

function readScalar(operator: Operator, path: MetadataPath, value: Scalar, fold: boolean): Read {
  const same: Filter = { op: 'equals', path, anyOf: [value], fold }
  switch (operator) {
    case 'eq':
      return filter(same)
    case 'ne':
      return filter(and([{ op: 'type', path, is: typeOf(value) }, not(same)]))
    case 'array_contains':
      return filter({ op: 'element', path, value, fold })
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value === 'boolean') return reason('booleans have no order; use eq')
      return filter({ op: 'compare', path, by: operator, value })
    default: {
      if (typeof value !== 'string') return reason(`${operator} needs a string`)
      const at = operator === 'contains' ? 'anywhere' : operator === 'starts_with' ? 'start' : 'end'
      return filter({ op: 'substring', path, at, value, fold })
    }
  }
}

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

function readMetadataFilter(given: unknown): Read {
  if (!isRecord(given)) return reason('a filter is an object with key, operator and value')
  const unknown = Object.keys(given).find((member) => !MEMBERS.includes(member))
  if (unknown !== undefined) return reason(`unknown member "${unknown}"; allowed are ${MEMBERS.join(', ')}`)
  const { key, operator = 'eq', value, case_sensitive: exact = false } = given
  if (typeof key !== 'string') return reason('the key is missing')
  const path = readPath(key)
  if (path === null)
    return reason('a key is letters, digits, "_" and "-", with dots between levels and no number below the first level')
  if (!OPERATORS.includes(operator as Operator))
    return reason(`unknown operator "${String(operator)}"; use one of ${OPERATORS.join(', ')}`)
  if (typeof exact !== 'boolean') return reason('case_sensitive must be true or false')
  return readOperator(operator as Operator, path, value, !exact)
}

function readMetadata(metadata: Record<string, unknown>, errors: string[]): Filter[] {
  return Object.entries(metadata).flatMap(([key, value]): Filter[] => {
    const path = readPath(key)
    const problem = path === null ? 'a key is letters, digits, "_", "-" and dots between levels' : scalarProblem(value)
    if (path === null || problem !== null) {
      errors.push(`Invalid metadata key "${key}": ${problem}`)
      return []
    }
    return [{ op: 'equals', path, anyOf: [value as Scalar], fold: false }]
  })
}

function readDates(start: string | undefined, end: string | undefined): Filter[] {
  if (start === undefined && end === undefined) return []
  const bound = (value: string | undefined, which: 'start' | 'end'): number | null => {
    if (value === undefined) return null
    const seconds = parseDateBound(value, which)
    if (seconds === null)
      throw invalidInput(
        `Invalid ${which}_date format: ${value}. Use ISO 8601, such as 2025-11-29 or 2025-11-29T10:00:00Z`,
      )
    return seconds
  }
  const from = bound(start, 'start')
  const to = bound(end, 'end')
  if (from !== null && to !== null && from > to)
    throw invalidInput(`start_date ${formatSecond(from * 1000)} is after end_date ${formatSecond(to * 1000)}`)
  return [{ op: 'created', from, to }]
}

export interface ReadFilter {
  readonly filter: Filter
  /** For stats: each of the plain filters, each metadata key and each metadata filter counts one. */
  readonly applied: number
  /** Product words for the filters in force. */
  readonly words: readonly string[]
}

/**
 * @param always what the tool's results always carry, for the error result of a rejected filter
 * @throws Problem invalid_input; a rejected metadata or tag filter carries `validation_errors` and an empty page
 */
export function readFilter(args: FilterArguments, always: Record<string, unknown> = {}): ReadFilter {
  const rejected = (message: string, errors: string[]) =>
    new Problem('invalid_input', message, {
      beside: { ...always, results: [], count: 0, total: 0, has_more: false, validation_errors: errors },
    })
  const errors: string[] = []
  const metadata = args.metadata ?? {}
  if (Object.keys(metadata).length > MAX_METADATA_KEYS)
    errors.push(`metadata has ${Object.keys(metadata).length} keys; at most ${MAX_METADATA_KEYS} are allowed`)
  const byKey = readMetadata(metadata, errors)
  const byOperator = (args.metadata_filters ?? []).flatMap((given, index): Filter[] => {
    const read = readMetadataFilter(given)
    if ('filter' in read) return [read.filter]
    const key = isRecord(given) && typeof given.key === 'string' ? given.key : ''
    errors.push(`Invalid metadata filter at index ${index} (key "${key}"): ${read.reason}`)
    return []
  })
  if (errors.length > 0) throw rejected(`Metadata filter validation failed: ${errors.join('; ')}`, errors)

  const tags = args.tags && args.tags.length > 0 ? normalizeTags(args.tags) : null
  if (tags !== null && tags.length === 0) {
    const message = 'Tag filter requires at least one non-blank tag'
    throw rejected(message, [message])
  }
  const plain: Filter[] = [
    ...(args.thread_id === undefined ? [] : [{ op: 'thread', is: checkThreadId(args.thread_id) } as const]),
    ...(args.source === undefined ? [] : [{ op: 'source', is: args.source } as const]),
    ...(args.content_type === undefined ? [] : [{ op: 'contentType', is: args.content_type } as const]),
    ...(tags === null ? [] : [{ op: 'tag', anyOf: tags } as const]),
    ...readDates(args.start_date, args.end_date),
  ]
  const words = [
    ...plain.map(({ op }) => (op === 'created' ? 'created between' : op)),
    ...Object.keys(metadata).map((key) => `metadata ${key}`),
    ...(args.metadata_filters ?? [])
      .filter(isRecord)
      .map(({ key, operator = 'eq' }) => `metadata ${String(key)} ${String(operator)}`),
  ]
  const dates = Number(args.start_date !== undefined) + Number(args.end_date !== undefined)
  const created = dates > 0 ? 1 : 0
  return {
    filter: and([...plain, ...byKey, ...byOperator]),
    applied: plain.length - created + dates + byKey.length + byOperator.length,
    words,
  }
}
