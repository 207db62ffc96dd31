import { unavailable } from '../domain/errors'
import { NamesChanged, type ResolvedProject } from '../domain/identity/project-resolution'
import { type CallNames, NO_NAMES } from '../services/people/project-names'
import type { ToolContext } from './context'
import { isRecord } from './record'

/** Arguments that name a project. Each name becomes the key of its project (fabric contract §1). */

const NAMES = ['project', 'projectPath']
/** Members that contain such names. */
const OBJECTS = ['metadata', 'metadata_patch', 'filter', 'event']
const ITEMS = ['entries', 'updates']
const FILTERS = 'metadata_filters'
/** Conditions of the core tools: a value, a list, or values by operator. */
const CONDITIONS = 'where'
const KEY = 'project'

type Args = Readonly<Record<string, unknown>>

/** Decodes an argument that arrives as JSON text, also if it is encoded twice. */
function decoded(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*["[{]/.test(value)) return value
  try {
    return decoded(JSON.parse(value))
  } catch {
    return value
  }
}

/** Returns all project names in unchecked arguments. */
export function namesIn(given: unknown): string[] {
  if (!isRecord(given)) return []
  const names: string[] = []
  const add = (value: unknown) => {
    if (typeof value === 'string') names.push(value)
  }
  const members = (object: Args) => {
    for (const name of NAMES) add(object[name])
  }
  const walk = (args: Args) => {
    members(args)
    for (const name of OBJECTS) {
      const object = decoded(args[name])
      if (isRecord(object)) members(object)
    }
    const conditions = decoded(args[CONDITIONS])
    const asked = isRecord(conditions) ? conditions[KEY] : undefined
    for (const value of (isRecord(asked) ? Object.values(asked) : [asked]).flat()) add(value)
    const filters = decoded(args[FILTERS])
    for (const filter of Array.isArray(filters) ? filters : [])
      if (isRecord(filter) && filter.key === KEY) for (const value of [filter.value].flat()) add(value)
  }
  walk(given)
  for (const name of ITEMS) {
    const items = decoded(given[name])
    for (const item of Array.isArray(items) ? items : []) if (isRecord(decoded(item))) walk(decoded(item) as Args)
  }
  return names
}

/** Operators that compare a complete project name, and the operator for several keys. */
const WHOLE: Readonly<Record<string, string>> = { eq: 'in', in: 'in', ne: 'not_in', not_in: 'not_in' }

/** Rewrites a condition on `metadata.project` so that it matches every key under which entries of the project are stored. */
function filterOf(filter: Args, names: CallNames): Args {
  const { key, operator = 'eq', value } = filter
  const several = typeof operator === 'string' ? WHOLE[operator] : undefined
  if (key !== KEY || several === undefined) return filter
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  const homes = values.flatMap((one): readonly unknown[] =>
    typeof one === 'string' ? (names.of(one)?.homes ?? [one]) : [one],
  )
  if (!Array.isArray(value) && homes.length === 1) return { ...filter, value: homes[0] }
  return { ...filter, operator: several, value: [...new Set(homes)] }
}

/** Rewrites the project condition of the core tools with the keys of the project. */
function conditionsOf(conditions: Args, names: CallNames): Args {
  const asked = conditions[KEY]
  if (asked === undefined) return conditions
  const byOperator = isRecord(asked) ? asked : { [Array.isArray(asked) ? 'in' : 'eq']: asked }
  const resolved = Object.entries(byOperator).map(([operator, value]) => {
    const { operator: of = operator, value: keys } = filterOf({ key: KEY, operator, value }, names)
    return [of, keys]
  })
  return { ...conditions, [KEY]: Object.fromEntries(resolved) }
}

/**
 * Replaces project names in arguments with project keys.
 *
 * A name without access stays unchanged and is refused where it is read.
 *
 * @param filters whether `metadata` is a condition, as in tools that read
 */
export function withKeys<Given extends Args>(given: Given, names: CallNames, filters: boolean): Given {
  const keyOf = (value: unknown): unknown => (typeof value === 'string' ? (names.of(value)?.key ?? value) : value)
  const members = (object: Args): Args => {
    const named = NAMES.filter((name) => typeof object[name] === 'string')
    return named.length === 0
      ? object
      : { ...object, ...Object.fromEntries(named.map((name) => [name, keyOf(object[name])])) }
  }
  const walk = (args: Args): Args => {
    const out: Record<string, unknown> = { ...members(args) }
    for (const name of OBJECTS) if (isRecord(out[name])) out[name] = members(out[name] as Args)
    if (!filters) return out
    if (Array.isArray(out[FILTERS]))
      out[FILTERS] = out[FILTERS].map((filter) => (isRecord(filter) ? filterOf(filter, names) : filter))
    if (isRecord(out[CONDITIONS])) out[CONDITIONS] = conditionsOf(out[CONDITIONS], names)
    return merged(out, given, names)
  }
  const out: Record<string, unknown> = walk(given)
  for (const name of ITEMS)
    if (Array.isArray(out[name])) out[name] = out[name].map((item) => (isRecord(item) ? walk(item) : item))
  return out as Given
}

/** Turns a condition `metadata: {project}` into a list condition if the project has several keys. */
function merged(args: Record<string, unknown>, given: Args, names: CallNames): Args {
  const { metadata } = args
  const sent = isRecord(given.metadata) ? given.metadata[KEY] : undefined
  const homes: ResolvedProject['homes'] = typeof sent === 'string' ? (names.of(sent)?.homes ?? []) : []
  if (!isRecord(metadata) || homes.length < 2) return args
  const { [KEY]: _, ...others } = metadata
  const before = Array.isArray(args[FILTERS]) ? args[FILTERS] : []
  return { ...args, metadata: others, [FILTERS]: [...before, { key: KEY, operator: 'in', value: [...homes] }] }
}

/** Attempts of a call if project names change while it runs. */
const TRIES = 5

/**
 * Executes a call with its project names resolved; repeats it if the directory of names changed before its write.
 *
 * @param step receives the context with the scope of the call, and the resolved names
 */
export async function withNames<T>(
  context: ToolContext,
  given: unknown,
  step: (context: ToolContext, names: CallNames) => Promise<T>,
): Promise<T> {
  const { services, principal } = context
  const found = namesIn(given)
  if (found.length === 0) return step(context, NO_NAMES)
  for (let attempt = 1; ; attempt++) {
    const names = await services.names.names(principal, found, attempt > 1)
    try {
      return await step({ ...context, principal: names.within(principal) }, names)
    } catch (error) {
      if (!(error instanceof NamesChanged)) throw error
      if (attempt === TRIES) throw unavailable('Project names are being changed; try again')
    }
  }
}
