import { limitExceeded } from '../errors'
import { jsonText } from '../json/write'
import { utf8Length } from '../text'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}
/** A JSON object as given. Keys such as `__proto__` are ordinary keys: read with `own`, never with a plain index. */
export type Metadata = JsonObject

export const AUDIENCES = ['org', 'project', 'private'] as const
export type Audience = (typeof AUDIENCES)[number]

/** Maximum size of metadata as JSON: 256 KB. */
export const MAX_METADATA_BYTES = 262_144

/**
 * Keys that are extracted into columns, contain links, or are part of the search index. A patch of other keys changes
 * only the metadata, so such patches never conflict.
 */
const RESERVED_KEYS: ReadonlySet<string> = new Set([
  'kind',
  'type',
  'report_type',
  'title',
  'task_name',
  'project',
  'domain',
  'category',
  'agent_name',
  'audience',
  'captured',
  'diary',
  'status',
  'assignee',
  'weight',
  'pinned',
  'confidence',
  'expires_at',
  'references',
  'supersedes',
  'depends_on',
  'contradicts',
  'codeBlock',
  'fileContext',
  'aliases',
])

/**
 * Reserved keys about the identity and readers of an entry, grouped by field. Replacing metadata keeps the keys of each
 * field that the new metadata do not contain (platform contract §1).
 */
const KEPT_FIELDS: readonly (readonly string[])[] = [
  ['audience'],
  ['diary'],
  ['project'],
  ['captured'],
  ['expires_at'],
  ['kind', 'type', 'report_type'],
  ['title', 'task_name'],
  ['domain', 'category'],
  ['agent_name'],
  ['references'],
  ['supersedes'],
  ['depends_on'],
  ['contradicts'],
]

/** The kept keys of fields that metadata do not contain. */
export const keptKeys = (metadata: Metadata): string[] =>
  KEPT_FIELDS.filter((keys) => !keys.some((key) => Object.hasOwn(metadata, key))).flat()

/**
 * Replaces metadata: kept keys remain unless `given` contains their field, and `null` removes one.
 * @param before current metadata; null without any
 */
export function replaceMetadata(before: Metadata | null, given: Metadata): Metadata {
  const next: Metadata = Object.create(null)
  for (const key of keptKeys(given)) {
    const value = own(before, key)
    if (value !== undefined) next[key] = value
  }
  const kept = new Set(KEPT_FIELDS.flat())
  for (const [key, value] of Object.entries(given)) if (value !== null || !kept.has(key)) next[key] = value
  return next
}

export const isReserved = (key: string): boolean => RESERVED_KEYS.has(key)

export const touchesReservedKeys = (patch: JsonObject): boolean => Object.keys(patch).some(isReserved)

export const own = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object !== null && Object.hasOwn(object, key) ? object[key] : undefined

export function checkMetadataSize(metadata: Metadata, name = 'metadata'): void {
  if (utf8Length(jsonText(metadata)) > MAX_METADATA_BYTES)
    throw limitExceeded(`${name} is larger than 256 KB (${MAX_METADATA_BYTES} bytes of JSON)`)
}

/** Whether a value is nested deeper than a number of levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON Merge Patch (RFC 7396): null deletes, objects merge at every depth, other values replace. */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null), isObject(target) ? target : {})
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else if (isObject(value)) merged[key] = mergePatch(own(isObject(target) ? target : null, key), value)
    else merged[key] = value
  }
  return merged
}
