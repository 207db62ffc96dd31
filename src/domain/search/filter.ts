import { type ContentType, contentTypeOf, type Entry, type Layer, type Source } from '../entry/entry'
import type { Kind } from '../entry/kind'
import { type JsonValue, type Metadata, own } from '../entry/metadata'
import { homesOf, type MergedProjects } from '../identity/scope'
import { compareText, foldAscii } from '../text'

/** Maximum length of a part that the engine searches directly. */
const SHORT = 32

/**
 * Whether a text contains a part, in linear time (Knuth, Morris and Pratt). Databases compare a long part at every
 * position, which takes the product of both lengths for hostile texts.
 */
export function containsText(text: string, part: string): boolean {
  if (part.length <= SHORT || part.length > text.length) return text.includes(part)
  const borders = bordersOf(part)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number
    if (part.charCodeAt(matched) === unit) matched++
    if (matched === part.length) return true
  }
  return false
}

/** For each prefix of a part, the length of its longest border. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length)
  let length = 0
  for (let at = 1; at < part.length; at++) {
    const unit = part.charCodeAt(at)
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] as number
    if (part.charCodeAt(length) === unit) length++
    borders[at] = length
  }
  return borders
}

/**
 * The filter of searches and lists. Tool arguments are converted to it (`tools/filters.ts`), `matches` defines its
 * meaning, and `adapters/sql/compile-filter.ts` compiles it to SQL. Every condition is true or false.
 */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | Predicate

export type Scalar = string | number | boolean
export type ScalarType = 'string' | 'number' | 'boolean'

/** Names of object members, outermost first. */
export type MetadataPath = readonly string[]

export type Predicate =
  | { readonly op: 'thread'; readonly is: string }
  | { readonly op: 'source'; readonly is: Source }
  | { readonly op: 'contentType'; readonly is: ContentType }
  /** Has at least one of these normalized tags. */
  | { readonly op: 'tag'; readonly anyOf: readonly string[] }
  /** Created within these whole seconds since 1970, inclusive. */
  | { readonly op: 'created'; readonly from: number | null; readonly to: number | null }
  /** Stored by this agent or owner, ignoring the case of A–Z. */
  | { readonly op: 'by'; readonly is: string }
  | { readonly op: 'kind'; readonly anyOf: readonly Kind[] }
  | { readonly op: 'layer'; readonly anyOf: readonly Layer[] }
  /** In one project. `of`: all storage keys of the project, where there are several. */
  | { readonly op: 'project'; readonly is: string; readonly of?: readonly string[] }
  /**
   * In this project, or in layer 3 of any project: the entries that a call with a project sees (fabric contract §1).
   */
  | { readonly op: 'projectScope'; readonly is: string; readonly of?: readonly string[] }
  /** The current version is approved by a person. */
  | { readonly op: 'approved' }
  /** A captured session of this owner; '' for keys without an owner. */
  | { readonly op: 'capturedOf'; readonly owner: string }
  | MetadataPredicate

export type MetadataPredicate =
  /** Present and not null. */
  | { readonly op: 'present'; readonly path: MetadataPath }
  /** Present and null. */
  | { readonly op: 'null'; readonly path: MetadataPath }
  | { readonly op: 'type'; readonly path: MetadataPath; readonly is: ScalarType }
  /** Equals one of the values, with the same type. `fold`: ignores the case of A–Z. */
  | { readonly op: 'equals'; readonly path: MetadataPath; readonly anyOf: readonly Scalar[]; readonly fold: boolean }
  /** Numbers by size, strings by code points; other types never match. */
  | {
      readonly op: 'compare'
      readonly path: MetadataPath
      readonly by: 'gt' | 'gte' | 'lt' | 'lte'
      readonly value: string | number
    }
  | {
      readonly op: 'substring'
      readonly path: MetadataPath
      readonly at: 'anywhere' | 'start' | 'end'
      readonly value: string
      readonly fold: boolean
    }
  /** An array that contains all of the values. */
  | { readonly op: 'elements'; readonly path: MetadataPath; readonly allOf: readonly Scalar[]; readonly fold: boolean }

export const EVERYTHING: Filter = { op: 'and', of: [] }

export const and = (filters: readonly Filter[]): Filter =>
  filters.length === 1 ? (filters[0] as Filter) : { op: 'and', of: filters }

/**
 * Merges filters on the elements of the same array, because searching an array of 256 KB takes milliseconds and a call
 * can have a hundred such filters.
 */
export function mergeElementFilters(filters: readonly Filter[]): Filter[] {
  const together = new Map<string, Extract<Predicate, { op: 'elements' }>>()
  const others: Filter[] = []
  for (const filter of filters) {
    if (filter.op !== 'elements') {
      others.push(filter)
      continue
    }
    const key = JSON.stringify([filter.path, filter.fold])
    together.set(key, { ...filter, allOf: [...(together.get(key)?.allOf ?? []), ...filter.allOf] })
  }
  return [...others, ...together.values()]
}

export const not = (filter: Filter): Filter => ({ op: 'not', of: filter })

/** The properties of an entry that filters use. */
type Filterable = Pick<
  Entry,
  | 'threadId'
  | 'source'
  | 'images'
  | 'tags'
  | 'createdAt'
  | 'metadata'
  | 'kind'
  | 'layer'
  | 'project'
  | 'agent'
  | 'owner'
  | 'approved'
  | 'captured'
>

/** The meaning of a filter. Databases are tested against it. */
export function matches(filter: Filter, entry: Filterable): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.every((part) => matches(part, entry))
    case 'or':
      return filter.of.some((part) => matches(part, entry))
    case 'not':
      return !matches(filter.of, entry)
    case 'thread':
      return entry.threadId === filter.is
    case 'source':
      return entry.source === filter.is
    case 'contentType':
      return contentTypeOf(entry) === filter.is
    case 'tag':
      return filter.anyOf.some((tag) => entry.tags.includes(tag))
    case 'created': {
      const second = Math.floor(entry.createdAt / 1000)
      return (filter.from === null || second >= filter.from) && (filter.to === null || second <= filter.to)
    }
    case 'by':
      return [entry.agent, entry.owner].some((name) => name !== null && foldAscii(name) === foldAscii(filter.is))
    case 'kind':
      return filter.anyOf.includes(entry.kind)
    case 'layer':
      return filter.anyOf.includes(entry.layer)
    case 'project':
      return isOf(entry, filter)
    case 'projectScope':
      return entry.layer === 3 || isOf(entry, filter)
    case 'approved':
      return entry.approved
    case 'capturedOf':
      return entry.captured && (entry.owner ?? '') === filter.owner
    default:
      return matchesValue(filter, valueAt(entry.metadata, filter.path))
  }
}

const isOf = ({ project }: Filterable, { is, of = [is] }: { is: string; of?: readonly string[] }): boolean =>
  project !== null && of.includes(project)

/** A filter on the project of a call. */
export function ofProject<Op extends 'project' | 'projectScope'>(op: Op, scope: MergedProjects, project: string) {
  const homes = homesOf(scope, project)
  return { op, is: project, ...(homes.length === 1 ? {} : { of: homes }) }
}

/** The value at a path; undefined when a member is missing or its parent is not an object. */
export function valueAt(metadata: Metadata | null, path: MetadataPath): JsonValue | undefined {
  let value: JsonValue | undefined = metadata ?? undefined
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = own(value, name)
  }
  return value
}

const startsWith = (text: string, part: string): boolean => text.startsWith(part)
const endsWith = (text: string, part: string): boolean => text.endsWith(part)

const equal = (stored: JsonValue, wanted: Scalar, fold: boolean): boolean =>
  fold && typeof stored === 'string' && typeof wanted === 'string'
    ? foldAscii(stored) === foldAscii(wanted)
    : stored === wanted

/** Whether a value matches a condition, in linear time. */
function matchesValue(predicate: MetadataPredicate, value: JsonValue | undefined): boolean {
  if (value === undefined) return false
  switch (predicate.op) {
    case 'present':
      return value !== null
    case 'null':
      return value === null
    case 'type':
      return typeof value === predicate.is
    case 'equals':
      return predicate.anyOf.some((wanted) => equal(value, wanted, predicate.fold))
    case 'compare': {
      if (typeof value !== typeof predicate.value) return false
      const difference =
        typeof value === 'string'
          ? compareText(value, predicate.value as string)
          : (value as number) - (predicate.value as number)
      return { gt: difference > 0, gte: difference >= 0, lt: difference < 0, lte: difference <= 0 }[predicate.by]
    }
    case 'substring': {
      if (typeof value !== 'string') return false
      const [text, part] = predicate.fold ? [foldAscii(value), foldAscii(predicate.value)] : [value, predicate.value]
      return { anywhere: containsText, start: startsWith, end: endsWith }[predicate.at](text, part)
    }
    case 'elements': {
      if (!Array.isArray(value)) return false
      const spelt = (one: JsonValue) => (predicate.fold && typeof one === 'string' ? foldAscii(one) : one)
      const missing = new Set<JsonValue>(predicate.allOf.map(spelt))
      for (const element of value) if (missing.delete(spelt(element)) && missing.size === 0) return true
      return missing.size === 0
    }
  }
}
