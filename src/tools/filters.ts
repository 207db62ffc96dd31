import * as z from 'zod'
import { checkThreadId } from '../domain/entry/draft'
import type { Metadata } from '../domain/entry/metadata'
import { normalizeTags } from '../domain/entry/selection'
import { invalidInput, Problem } from '../domain/errors'
import { and, type Filter, mergeElementFilters } from '../domain/search/filter'
import { checkWeight } from '../domain/search/filter-weight'
import { formatSecond, parseDateBound } from '../domain/time'
import { givenAs, IssueCollector, shortForm } from '../domain/validation'
import { jsonObject, source, tags } from './fields'
import { type BadFilter, metadataFilter, oversized, readMetadata, readMetadataFilters } from './metadata-filters'
import { isRecord } from './record'

/** The eight filter arguments that all searches share; they become one filter tree (threads contract §4, §5). */
export const filterFields = {
  thread_id: z.string().optional().meta({ description: 'Only this thread' }),
  source: source('By source').optional(),
  tags: tags('Any of').optional(),
  content_type: z.enum(['text', 'multimodal']).optional().meta({ description: 'multimodal: images' }),
  metadata: jsonObject('Equal: {"status": "done"}').optional(),
  metadata_filters: z.array(metadataFilter).max(100).optional().meta({ description: 'All must match' }),
  start_date: z.string().optional().meta({ description: 'From: ISO 8601' }),
  end_date: z.string().optional().meta({ description: 'Until, inclusive' }),
}

type FilterArguments = { [Key in keyof typeof filterFields]?: z.output<(typeof filterFields)[Key]> }

type Bound = 'start' | 'end'

function readBound(value: string | undefined, which: Bound): number | null {
  if (value === undefined) return null
  const seconds = parseDateBound(value, which)
  if (seconds === null)
    throw invalidInput(
      `Invalid ${which}_date format: ${shortForm(value, 200)}. Use ISO 8601, such as 2025-11-29 or 2025-11-29T10:00:00Z`,
    )
  return seconds
}

function readDates(start: string | undefined, end: string | undefined, wrong: IssueCollector): Filter[] {
  if (start === undefined && end === undefined) return []
  const from = wrong.check('start_date', start, () => readBound(start, 'start')) ?? null
  const to = wrong.check('end_date', end, () => readBound(end, 'end')) ?? null
  if (from !== null && to !== null && from > to)
    wrong.refuse(
      'start_date',
      start,
      `start_date ${formatSecond(from * 1000)} is after end_date ${formatSecond(to * 1000)}`,
    )
  return [{ op: 'created', from, to }]
}

export interface ReadFilter {
  readonly filter: Filter
  /** Number of filters for stats: each plain filter, metadata key and metadata filter counts as one. */
  readonly applied: number
  /** The active filters in words. */
  readonly words: readonly string[]
}

const BLANK_TAGS = 'Tag filter requires at least one non-blank tag'

/**
 * Reads the filter arguments of a search.
 *
 * @param always members that all results of the tool have, for the error result of a rejected filter
 * @throws Problem limit_exceeded if all conditions together are too large, invalid_input for other problems; a rejected metadata
 *   or tag filter carries `validation_errors` and an empty page
 */
export function readFilter(args: FilterArguments, always: Record<string, unknown> = {}): ReadFilter {
  const wrong = new IssueCollector()
  const bad: BadFilter[] = []
  const metadata = args.metadata ?? {}
  const byKey = readMetadata(metadata, bad)
  const byOperator = readMetadataFilters(args.metadata_filters ?? [], bad)
  const tags = args.tags && args.tags.length > 0 ? normalizeTags(args.tags) : null
  const blank = tags?.length === 0
  const errors = [...bad.map(({ error }) => error), ...(blank ? [BLANK_TAGS] : [])]
  const beside = { ...always, results: [], count: 0, total: 0, has_more: false, validation_errors: errors }
  const reject = (message: string, rejected: readonly Omit<BadFilter, 'error'>[]) =>
    wrong.note(
      new Problem('invalid_input', message, {
        details: rejected.map(({ path, value, example }) => ({ path, given: givenAs(value), example })),
        beside,
      }),
    )
  if (bad.length > 0) reject(`Metadata filter validation failed: ${bad.map(({ error }) => error).join('; ')}`, bad)
  if (blank) reject(BLANK_TAGS, [{ path: 'tags', value: args.tags }])
  const large = bad.length > 0 ? null : oversized(metadata, args.metadata_filters ?? [])
  if (large !== null) wrong.note(large)

  const threadId = args.thread_id
  const thread = threadId === undefined ? undefined : wrong.check('thread_id', threadId, () => checkThreadId(threadId))
  const plain: Filter[] = [
    ...(thread === undefined ? [] : [{ op: 'thread', is: thread } as const]),
    ...(args.source === undefined ? [] : [{ op: 'source', is: args.source } as const]),
    ...(args.content_type === undefined ? [] : [{ op: 'contentType', is: args.content_type } as const]),
    ...(tags === null ? [] : [{ op: 'tag', anyOf: tags } as const]),
    ...readDates(args.start_date, args.end_date, wrong),
  ]
  wrong.end()
  const words = [
    ...plain.map(({ op }) => (op === 'created' ? 'created between' : op)),
    ...Object.keys(metadata).map((key) => `metadata ${key}`),
    ...(args.metadata_filters ?? [])
      .filter(isRecord)
      .map(({ key, operator = 'eq' }) => `metadata ${String(key)} ${String(operator)}`),
  ]
  const dates = Number(args.start_date !== undefined) + Number(args.end_date !== undefined)
  const created = dates > 0 ? 1 : 0
  const filter = and([...plain, ...byKey, ...mergeElementFilters(byOperator)])
  checkWeight(filter)
  return {
    filter,
    applied: plain.length - created + dates + byKey.length + byOperator.length,
    words,
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Checks the filters with the right type, if other arguments are wrong. @throws Problem */
export function inspectFilter(args: Record<string, unknown>): void {
  const { thread_id, tags, metadata, metadata_filters, start_date, end_date } = args
  readFilter({
    ...(isText(thread_id) ? { thread_id } : {}),
    ...(Array.isArray(tags) && tags.every(isText) ? { tags } : {}),
    ...(isRecord(metadata) ? { metadata: metadata as Metadata } : {}),
    ...(Array.isArray(metadata_filters) ? { metadata_filters } : {}),
    ...(isText(start_date) ? { start_date } : {}),
    ...(isText(end_date) ? { end_date } : {}),
  })
}
