import { invalidInput, limitExceeded, Problem } from '../errors'
import { Inspection } from '../flaws'
import { normalizeProject } from '../identity/project'
import type { Scope } from '../identity/scope'
import { MAX_DEPTH } from '../json/unkept'
import { jsonText } from '../json/write'
import { codePointLength, trim, utf8Length } from '../text'
import { parseInstant } from '../time'
import { type Kind, kindOfMetadata } from './kind'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}
/** Any JSON object, kept as given. Keys such as `__proto__` are ordinary keys: read with `own`, never with a plain index. */
export type Metadata = JsonObject

export const AUDIENCES = ['org', 'project', 'private'] as const
export type Audience = (typeof AUDIENCES)[number]
export const WORK_STATUSES = ['todo', 'doing', 'blocked', 'review', 'done', 'archived'] as const
export type WorkStatus = (typeof WORK_STATUSES)[number]

/** Of the metadata as JSON: 256 KB. */
export const MAX_METADATA_BYTES = 262_144
/** Of a project's key (fabric contract §1). */
export const MAX_PROJECT = 240

/**
 * Keys whose values are lifted into columns, that name links, or that stand in the search index. A patch of any other key touches
 * nothing but the
 * metadata itself, which is why such patches never conflict with each other.
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

export const touchesReservedKeys = (patch: JsonObject): boolean =>
  Object.keys(patch).some((key) => RESERVED_KEYS.has(key))

export const own = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object !== null && Object.hasOwn(object, key) ? object[key] : undefined

/** What metadata says about an entry, as columns. Derived from the metadata on every write, so the two cannot differ. */
export interface Lifted {
  readonly namedKind: Kind | null
  /** Status and assignee are both set, so it is a task if nothing names another kind. */
  readonly workItem: boolean
  readonly title: string | null
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly audience: Audience
  readonly diary: boolean
  /** Written by the hooks of a client and kept by nobody yet (capture contract §4). */
  readonly captured: boolean
  readonly status: WorkStatus | null
  /** 1 to 5; null when the metadata says nothing of it, and what an argument or the life cycle has set holds. */
  readonly weight: number | null
  /** Null as for the weight. */
  readonly pinned: boolean | null
  readonly confidence: number | null
  /** The writer's own end of the entry, milliseconds since 1970; a layer may set an earlier one, never a later. */
  readonly expiresAt: number | null
}

const text = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && trim(value) !== '' ? value : null

function projectOf(metadata: Metadata | null, scope: Scope, kept: string | null): string | null {
  const value = own(metadata, 'project')
  // A project that is no string is none (`["a", "b"]` stays plain metadata).
  if (typeof value !== 'string') return kept ?? defaultProject(scope)
  if (codePointLength(value) > MAX_PROJECT)
    throw invalidInput(`metadata.project is longer than ${MAX_PROJECT} characters`)
  const project = normalizeProject(value)
  if (project === null) return kept ?? defaultProject(scope)
  if (scope.projects !== null && !scope.projects.includes(project))
    throw new Problem('forbidden', `Project access denied: ${project}`)
  return project
}

/** Where a write without a project goes: nowhere in particular, unless the key is narrowed. */
function defaultProject(scope: Scope): string | null {
  if (scope.projects === null) return null
  if (scope.projects.length === 1) return scope.projects[0] as string
  throw invalidInput(`metadata.project is required for this key; choose one of: ${scope.projects.join(', ')}`)
}

function checkCaptured(metadata: Metadata): void {
  const value = own(metadata, 'captured')
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw invalidInput('metadata.captured must be true or false')
}

function audienceOf(metadata: Metadata | null): Audience {
  const value = own(metadata, 'audience')
  if (value === undefined || value === null) return 'org'
  const audience = AUDIENCES.find((known) => known === value)
  if (audience === undefined) throw invalidInput(`metadata.audience must be one of: ${AUDIENCES.join(', ')}`)
  return audience
}

export const isCaptured = (metadata: Metadata | null): boolean => own(metadata, 'captured') === true

/** @throws Problem invalid_input when metadata call themselves captured, which what hooks gather alone is */
export function checkUncaptured(metadata: Metadata | null): void {
  if (isCaptured(metadata))
    throw invalidInput('metadata.captured is reserved for what the hooks of clients capture; leave it out')
}

function diaryOf(metadata: Metadata | null): boolean {
  const value = own(metadata, 'diary')
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw invalidInput('metadata.diary must be true or false')
  return value
}

function expiryOf(metadata: Metadata | null): number | null {
  const value = own(metadata, 'expires_at')
  if (value === undefined || value === null) return null
  const instant = typeof value === 'string' ? parseInstant(value) : null
  if (instant === null) throw invalidInput('metadata.expires_at must be a time, such as "2026-11-21T10:00:00Z"')
  return instant
}

/**
 * Reads the reserved keys. Values outside a key's vocabulary stay plain metadata, except those that protect the entry
 * (`audience`, `diary`, `expires_at`): they fail closed.
 *
 * @param agent the credential's agent, used when the metadata names none
 * @param keptProject where an entry stays when the metadata names no project
 * @throws Problem invalid_input or forbidden
 */
export function liftMetadata(
  metadata: Metadata | null,
  scope: Scope,
  agent: string | null,
  keptProject: string | null = null,
): Lifted {
  const status = WORK_STATUSES.find((known) => known === own(metadata, 'status')) ?? null
  const assignee = own(metadata, 'assignee')
  const weight = own(metadata, 'weight')
  const confidence = own(metadata, 'confidence')
  const pinned = own(metadata, 'pinned')
  return {
    namedKind: kindOfMetadata(metadata),
    workItem: status !== null && assignee !== undefined && assignee !== null && assignee !== '',
    title: text(own(metadata, 'title')) ?? text(own(metadata, 'task_name')),
    project: projectOf(metadata, scope, keptProject),
    domain: text(own(metadata, 'domain')) ?? text(own(metadata, 'category')),
    agent: text(own(metadata, 'agent_name')) ?? agent,
    audience: audienceOf(metadata),
    diary: diaryOf(metadata),
    captured: isCaptured(metadata),
    status,
    weight: typeof weight === 'number' && Number.isInteger(weight) && weight >= 1 && weight <= 5 ? weight : null,
    pinned: typeof pinned === 'boolean' ? pinned : null,
    confidence: typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : null,
    expiresAt: expiryOf(metadata),
  }
}

/** @throws Problem limit_exceeded when the object is too large or nested too deep */
export function checkMetadata(metadata: Metadata, name = 'metadata'): void {
  if (isDeeper(metadata, MAX_DEPTH)) throw limitExceeded(`${name} is nested deeper than ${MAX_DEPTH} levels`)
  checkMetadataSize(metadata, name)
  checkProtection(metadata)
}

/** The keys that protect an entry fail closed, all of them told. @throws Problem */
function checkProtection(metadata: Metadata): void {
  const wrong = new Inspection()
  wrong.check('metadata.audience', own(metadata, 'audience'), () => audienceOf(metadata))
  wrong.check('metadata.captured', own(metadata, 'captured'), () => checkCaptured(metadata))
  wrong.check('metadata.diary', own(metadata, 'diary'), () => diaryOf(metadata))
  wrong.check('metadata.expires_at', own(metadata, 'expires_at'), () => expiryOf(metadata))
  wrong.end()
}

export function checkMetadataSize(metadata: Metadata, name = 'metadata'): void {
  if (utf8Length(jsonText(metadata)) > MAX_METADATA_BYTES)
    throw limitExceeded(`${name} is larger than 256 KB (${MAX_METADATA_BYTES} bytes of JSON)`)
}

/** Whether objects and lists stand in each other on more levels than these. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON Merge Patch (RFC 7396): null deletes, objects merge at every depth, everything else replaces. */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null), isObject(target) ? target : {})
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else if (isObject(value)) merged[key] = mergePatch(own(isObject(target) ? target : null, key), value)
    else merged[key] = value
  }
  return merged
}
