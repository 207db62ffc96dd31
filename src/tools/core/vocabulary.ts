import * as z from 'zod'
import { sourceNote } from '../../domain/entry/citation'
import type { Entry, EntryPreview } from '../../domain/entry/entry'
import { type Kind, kindsLike, readKind } from '../../domain/entry/kind'
import { type Metadata, own } from '../../domain/entry/metadata'
import { normalizeTags } from '../../domain/entry/selection'
import { titleOf } from '../../domain/entry/title'
import { invalidInput } from '../../domain/errors'
import { homesOf, type Principal } from '../../domain/identity/scope'
import { mostSimilarName } from '../../domain/name-similarity'
import { isZone, temporal } from '../../domain/recall/calendar'
import { EXPRESSION_FORMS, resolveExpression } from '../../domain/recall/date-expressions'
import { and, type Filter, mergeElementFilters } from '../../domain/search/filter'
import { codePointLength } from '../../domain/text'
import { DAY_MS, formatSecond, type Millis, parseDateBound, parseInstant } from '../../domain/time'
import { collectIssues, givenAs, shortForm } from '../../domain/validation'
import type { CallContext } from '../context'
import { contextId } from '../fields'
import { oversized, readMetadataFilter } from '../metadata-filters'
import { namedProject } from '../project'
import { isRecord } from '../record'
import { inCoreWords } from './family'

/** Arguments and serialization that the core tools share (core contract). */

/** Characters of a default answer: 2,500 tokens at four characters each. */
export const DEFAULT_ANSWER = 10_000

/** Converts a token budget to characters: 100 to 32,000 tokens, default 2,500. */
export const charactersOf = (tokens: number | undefined): number =>
  tokens === undefined ? DEFAULT_ANSWER : Math.max(100, Math.min(32_000, tokens)) * 4

const text = (description: string) => z.string().optional().meta({ description })

export const id = (description: string) => contextId(description, { type: 'integer' })
export const ids = (description: string) =>
  z
    .array(contextId('Id', { type: 'integer' }))
    .max(100)
    .meta({ description })

/** Arguments that several core tools accept, each with one description. */
export const fields = {
  project: text('This project and memories without one'),
  onlyProject: text('Only this project'),
  kinds: z
    .array(z.string().meta({ description: 'Kind' }))
    .optional()
    .meta({ description: 'Kinds' }),
  tags: z
    .array(z.string().meta({ description: 'Tag' }))
    .max(100)
    .optional()
    .meta({ description: 'Any of these' }),
  by: text('Agent or owner'),
  since: text('Stored since "yesterday", "3 days ago", ISO 8601'),
  until: text('Stored until; a date is inclusive'),
  thread: text('Thread'),
  captured: z
    .enum(['include', 'only', 'exclude'])
    .default('include')
    .meta({ description: 'Your sessions awaiting approval' }),
} as const

/** Returns the kind that a word names. @throws Problem invalid_input that lists the most similar kinds first */
export function kindOf(word: string, path = 'kind'): Kind {
  const kind = readKind(word)
  if (kind !== null) return kind
  const message = `Unknown kind "${shortForm(word, 100)}". Use one of: ${kindsLike(word).join(', ')}`
  throw invalidInput(message, [{ path, given: givenAs(word), example: kindsLike(word)[0] }])
}

/** Narrows a caller to one project and the memories without a project. @throws Problem forbidden */
export function inProject<Caller extends Principal>(caller: Caller, project: string | undefined): Caller {
  const named = namedProject(caller, project)
  return named === null ? caller : { ...caller, projects: homesOf(caller, named) }
}

/** Loads the calendar for arguments that name a time or a time zone. */
export const loadsTimes = ({ since, until, timezone }: Readonly<Record<string, unknown>>) =>
  since || until || timezone ? temporal.load() : null

/**
 * Parses a time in words or ISO 8601.
 *
 * @returns milliseconds since 1970
 * @throws Problem invalid_input that lists the accepted forms
 */
export function instantOf(given: string, path: string, now: Millis, zone = 'UTC'): Millis {
  const at = resolveExpression(given, zone, now)
  if (at !== null) return at
  const message = `${path} "${shortForm(given, 100)}" is not a time. Use one of: ${EXPRESSION_FORMS}`
  throw invalidInput(message, [{ path, given: givenAs(given), example: 'yesterday' }])
}

/** Checks a time zone given by name or offset. @throws Problem invalid_input */
export function zoneOf(zone = 'UTC'): string {
  if (isZone(zone)) return zone
  throw invalidInput(`Unknown time zone: ${shortForm(zone, 100)}. Use an IANA name or an offset such as +05:45`, [
    { path: 'timezone', given: givenAs(zone), example: 'Europe/London' },
  ])
}

/** Parses `until`: a date or a day in words means the end of that day. */
function endOf(given: string, now: Millis): Millis {
  const seconds = parseDateBound(given.trim(), 'end')
  if (seconds !== null) return seconds * 1000
  const at = instantOf(given, 'until', now)
  return /^(today|yesterday|tomorrow|(next|last) \w+day)$/i.test(given.trim()) ? at + DAY_MS - 1 : at
}

interface Conditions {
  readonly kind?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly by?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly thread?: string | undefined
}

/**
 * Refuses an expiry in the past, because such a memory could not be read or restored.
 *
 * @throws Problem invalid_input, also for a value that is not a time
 */
export function checkExpiry(metadata: Metadata, now: Millis): void {
  const given = own(metadata, 'expires_at')
  if (given === undefined || given === null) return
  const at = typeof given === 'string' ? parseInstant(given) : null
  if (at !== null && at > now) return
  const message =
    at === null
      ? 'expires_at must be a time, such as "2030-01-31T10:00:00Z"'
      : 'expires_at has passed: call forget to delete'
  throw invalidInput(message, [{ path: 'expires_at', given: givenAs(given), example: '2030-01-31T10:00:00Z' }])
}

/** Builds the filters of the arguments, except project and `where`. @throws Problem invalid_input */
export function conditions(given: Conditions, now: Millis): Filter[] {
  const tags = normalizeTags(given.tags ?? [])
  const from = given.since === undefined ? null : Math.ceil(instantOf(given.since, 'since', now) / 1000)
  const to = given.until === undefined ? null : Math.floor(endOf(given.until, now) / 1000)
  const kinds = [...new Set((given.kind ?? []).map((word) => kindOf(word)))]
  return [
    ...(given.thread === undefined ? [] : [{ op: 'thread', is: given.thread.trim() } as const]),
    ...(kinds.length === 0 ? [] : [{ op: 'kind', anyOf: kinds } as const]),
    ...(tags.length === 0 ? [] : [{ op: 'tag', anyOf: tags } as const]),
    ...(given.by === undefined ? [] : [{ op: 'by', is: given.by.trim() } as const]),
    ...(from === null && to === null ? [] : [{ op: 'created', from, to } as const]),
  ]
}

export const filterOf = (given: Conditions, now: Millis): Filter => and(conditions(given, now))

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0)

/** Removes members without information: null, false, and empty texts and lists. */
export const lean = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => !isNothing(value))
      .map(([name, value]) => [name, name === 'warnings' ? (value as string[]).map(inCoreWords) : value]),
  )

/** Reports whether the thread name only repeats the project. */
const isUsualThread = ({ threadId, project }: Pick<Entry, 'threadId' | 'project'>): boolean =>
  threadId === 'memory' || threadId === `project:${project}`

/** Returns the agent that stored an entry, or else the owner of the key. */
export const byOf = ({ agent, owner }: Pick<Entry, 'agent' | 'owner'>): string | null => agent ?? owner

const TITLE = 120

/** Serializes a memory for a core result, without its content. */
export const shownMemory = (entry: Entry | EntryPreview): Record<string, unknown> =>
  lean({
    id: entry.id,
    title: titleOf(entry).slice(0, TITLE),
    kind: entry.kind,
    project: entry.project,
    thread: isUsualThread(entry) ? null : entry.threadId,
    tags: entry.tags,
    status: own(entry.metadata, 'status'),
    by: byOf(entry),
    at: formatSecond(entry.createdAt),
    valid_from: own(entry.metadata, 'valid_at'),
    valid_until: own(entry.metadata, 'valid_until'),
    captured: entry.captured,
    imported: entry.importedFrom !== null,
    approved: entry.approved,
    replaced_by: entry.supersededBy,
    note: sourceNote(entry.metadata),
  })

/** Cuts a text so that its JSON stays within a number of characters. */
export function shortenedTo(text: string, most: number): string {
  let wanted = most
  for (let tries = 0; tries < 4; tries++) {
    const cut = codePointLength(text) <= wanted ? text : `${[...text].slice(0, Math.max(1, wanted - 1)).join('')}…`
    const size = JSON.stringify(cut).length
    if (size <= most + 2) return cut
    wanted = Math.floor((wanted * most) / size)
  }
  return ''
}

/** Members of a memory in output schemas. */
export const memoryOutput = {
  id: z.int(),
  title: z.string(),
  kind: z.string(),
  project: z.string().optional(),
  by: z.string().optional(),
  at: z.string(),
  content: z.string(),
} as const

const MAX_CONDITIONS = 100

/**
 * Reads conditions on metadata: a value, a list of accepted values, or `{operator: value}` with the operators of
 * `metadata_filters`.
 *
 * @throws Problem invalid_input that lists every problem
 * @example
 * whereOf({ status: ['todo', 'doing'], weight: { gte: 3 } })
 */
export function whereOf(where: Readonly<Record<string, unknown>>): Filter[] {
  const entries = Object.entries(where)
  const large = oversized(where, [])
  if (large !== null) throw large
  return collectIssues((wrong) => {
    if (entries.length > MAX_CONDITIONS)
      wrong.refuse('where', where, `where has ${entries.length} keys; at most ${MAX_CONDITIONS} are allowed`)
    const filters = entries.slice(0, MAX_CONDITIONS).flatMap(([key, condition]) => {
      const asked = isRecord(condition)
        ? Object.entries(condition).map(([operator, value]) => ({ key, operator, value }))
        : [{ key, operator: Array.isArray(condition) ? 'in' : 'eq', value: condition }]
      return asked.flatMap((one) => {
        const path = `where.${shortForm(key, 100)}`
        const read = wrong.check(path, condition, () => {
          const filter = readMetadataFilter(one)
          if ('filter' in filter) return filter.filter
          const example = { [key]: { gte: 3 } }
          throw invalidInput(`${path}: ${filter.reason}`, [{ path, given: givenAs(condition), example }])
        })
        return read === undefined ? [] : [read]
      })
    })
    return mergeElementFilters(filters)
  })
}

/**
 * Warns that the named project has no memories, and suggests the most similar name.
 *
 * Without the warning, a typo looks like a project without memories. Costs one round trip if no result belongs to the project,
 * else none.
 *
 * @param results projects of the results
 * @returns an empty list if no project is named or it has memories
 */
export async function unknownProject(
  { services, principal }: Pick<CallContext, 'services' | 'principal'>,
  project: string | undefined,
  results: readonly (string | null)[],
): Promise<string[]> {
  const named = namedProject(principal, project)
  if (named === null || results.includes(named)) return []
  const known = (await services.projects.list(principal)).filter(({ entries }) => entries > 0)
  if (known.some(({ key }) => key === named)) return []
  const nearest = mostSimilarName(
    named,
    known.flatMap(({ key, name, aliases }) => [
      key,
      ...(name === null ? [] : [name]),
      ...aliases.map((one) => one.name),
    ]),
  )
  const meant = nearest === null ? '' : `; the most similar name is ${JSON.stringify(nearest.slice(0, 100))}`
  return [`Project ${JSON.stringify(named.slice(0, 100))} has no memories${meant}`]
}
