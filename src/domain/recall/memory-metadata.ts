import { checkTags } from '../entry/draft'
import type { Source } from '../entry/entry'
import { isKind } from '../entry/kind'
import { type JsonObject, type JsonValue, type Metadata, own } from '../entry/metadata'
import { invalidInput } from '../errors'
import { normalizeProject, projectByDefault } from '../identity/project'
import type { Scope } from '../identity/scope'
import type { IssueCollector } from '../validation'
import { normalPath } from './file-paths'
import { type Memory, type MemoryType, typeOfKind } from './memory'
import { openProject } from './project-access'

/** Types and ranges of the metadata keys of the fabric family (fabric contract §4). */

export const MEMORY_SOURCES = ['user_explicit', 'ai_inferred', 'system_auto'] as const

export type MemorySource = (typeof MEMORY_SOURCES)[number]

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isLine = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1

export type Rule = (value: JsonValue) => string | null

const aString: Rule = (value) => (typeof value === 'string' ? null : 'must be a string')

/** A rule for an object: its required and optional members. */
const members =
  (required: Readonly<Record<string, Rule>>, optional: Readonly<Record<string, Rule>>): Rule =>
  (value) => {
    if (!isObject(value)) return 'must be an object'
    for (const [key, rule] of Object.entries({ ...required, ...optional })) {
      const member = own(value, key)
      if (member === undefined) {
        if (Object.hasOwn(required, key)) return `must have ${key}`
        continue
      }
      const flaw = rule(member)
      if (flaw !== null) return `.${key} ${flaw}`
    }
    return null
  }

const aLine: Rule = (value) => (isLine(value) ? null : 'must be a line number, 1 or greater')

export const RULES: Readonly<Record<string, Rule>> = {
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? null : 'must be a list of strings',
  title: aString,
  confidence: (value) =>
    typeof value === 'number' && value >= 0 && value <= 1 ? null : 'must be a number from 0 to 1',
  source: (value) =>
    MEMORY_SOURCES.some((known) => known === value) ? null : `must be one of: ${MEMORY_SOURCES.join(', ')}`,
  projectPath: aString,
  cliType: aString,
  weight: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 5
      ? null
      : 'must be a whole number from 1 to 5',
  pinned: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
  fileContext: members({ path: aString }, { lineStart: aLine, lineEnd: aLine, language: aString }),
  codeBlock: members({ code: aString, language: aString }, { filePath: aString }),
}

export const isKnownKey = (key: string): boolean => Object.hasOwn(RULES, key)

/**
 * Records an issue for every known key with a value of the wrong type or range. @param mayRemove whether null removes a
 * key
 */
export function checkMemoryMetadata(metadata: Metadata, wrong: IssueCollector, mayRemove: boolean): void {
  for (const [key, rule] of Object.entries(RULES)) {
    const value = own(metadata, key)
    if (value === undefined || (mayRemove && value === null)) continue
    const flaw = rule(value)
    if (flaw !== null)
      wrong.refuse(`metadata.${key}`, value, `metadata.${key}${flaw.startsWith('.') ? '' : ' '}${flaw}`)
  }
  if (Array.isArray(metadata.tags) && metadata.tags.every((tag) => typeof tag === 'string'))
    wrong.check('metadata.tags', metadata.tags, () => checkTags(metadata.tags as string[]))
}

/** Metadata of memories as they are stored and shown (fabric contract §1, §3). */

const DEFAULT_CONFIDENCE = 0.8

/** The normalized tags in metadata; null without the key. */
export const tagsOfMetadata = (metadata: Metadata): string[] | null =>
  Object.hasOwn(metadata, 'tags') ? checkTags((metadata.tags ?? []) as string[]) : null

/** Keys that are stored in columns or under another name. */
const MOVED = ['tags', 'projectPath']

/**
 * Merges given metadata into stored ones: the project under the key that all families read, without tags.
 * @param before stored metadata, null for a new memory; a given key replaces, null removes, other keys remain
 * @throws Problem for an invalid project, or one that the scope does not reach
 */
export function storedMetadata(scope: Scope, before: Metadata | null, given: Metadata): Metadata {
  const kept: Metadata = Object.assign(Object.create(null), before ?? {})
  for (const [key, value] of Object.entries(given)) {
    if (MOVED.includes(key)) continue
    if (value === null && before !== null) delete kept[key]
    else kept[key] = value
  }
  if (!Object.hasOwn(given, 'projectPath')) return withNormalPaths(kept)
  const path = given.projectPath
  if (path === null) delete kept.project
  else {
    const project = openProject(scope, path as string, 'metadata.projectPath')
    const named = own(given, 'project')
    if (typeof named === 'string' && normalizeProject(named) !== project)
      throw invalidInput('metadata.project and metadata.projectPath name different projects; give one of them')
    kept.project = project
  }
  return withNormalPaths(kept)
}

/** Metadata members that contain paths. */
const PATHS = [
  ['fileContext', 'path'],
  ['codeBlock', 'filePath'],
] as const

function withNormalPaths(kept: Metadata): Metadata {
  const project = typeof kept.project === 'string' ? normalizeProject(kept.project) : null
  for (const [key, member] of PATHS) {
    const object = own(kept, key)
    const path = isObject(object) ? own(object, member) : undefined
    if (isObject(object) && typeof path === 'string') kept[key] = { ...object, [member]: normalPath(path, project) }
  }
  return kept
}

/** Adds the kind of a type to metadata, unless they have a valid kind. */
export function withKind(metadata: Metadata, type: MemoryType): Metadata {
  if (isKind(own(metadata, 'kind'))) return metadata
  if (!Object.hasOwn(metadata, 'kind')) return { ...metadata, kind: type }
  if (!Object.hasOwn(metadata, 'type') || isKind(metadata.type)) return { ...metadata, type }
  throw invalidInput('metadata.kind is not a known kind. Leave it out, because the argument type sets the kind')
}

/**
 * The project of a new memory.
 * @param field path of the argument, for errors
 * @throws Problem when the key reaches several projects and none is given
 */
export function projectOfWrite(scope: Scope, metadata: Metadata, field = 'metadata.projectPath'): string | null {
  const path = own(metadata, 'projectPath') ?? own(metadata, 'project')
  if (typeof path === 'string') return openProject(scope, path, field)
  return projectByDefault(scope, field)
}

export const sourceOfEntry = (metadata: Metadata): Source =>
  own(metadata, 'source') === 'user_explicit' ? 'user' : 'agent'

/** Metadata in the form of the fabric family: with defaults, and without values that answers show in other members. */
export function shownMetadata(memory: Memory): Metadata {
  const { metadata, project, kind, tags, weight, source } = memory
  // Copied once: metadata may have tens of thousands of keys.
  const { kind: namedKind, project: namedProject, ...shown } = metadata ?? {}
  const own = shown as Metadata
  const known = (key: string): boolean =>
    Object.hasOwn(own, key) && (RULES[key] as Rule)(own[key] as JsonValue) === null
  const inferred: MemorySource = source === 'user' ? 'user_explicit' : 'ai_inferred'
  return Object.assign(own, {
    ...(namedKind === undefined || namedKind === typeOfKind(kind) ? {} : { kind: namedKind }),
    ...(namedProject === undefined || typeof namedProject === 'string' ? {} : { project: namedProject }),
    tags: [...tags],
    confidence: known('confidence') ? (own.confidence as number) : DEFAULT_CONFIDENCE,
    source: known('source') ? (own.source as string) : inferred,
    cliType: known('cliType') ? (own.cliType as string) : 'generic',
    weight,
    ...(project === null ? {} : { projectPath: project }),
  })
}

/** A string member of an object in metadata; null without one. */
const memberOf = (metadata: Metadata, key: string, member: string): string | null => {
  const object = own(metadata, key)
  const value = isObject(object) ? own(object, member) : undefined
  return typeof value === 'string' ? value : null
}

/**
 * The short metadata of one memory in a list (fabric contract §1): identifying keys, and values that differ from the
 * defaults.
 * @param named the project of the call, which is left out
 */
export function compactMetadata(memory: Memory, named: string | null): Metadata {
  const shown = shownMetadata(memory)
  const path = memberOf(shown, 'fileContext', 'path')
  const unusual = (key: string, usual: JsonValue): Metadata => {
    const value = own(shown, key)
    return value === undefined || value === usual ? {} : { [key]: value }
  }
  return {
    tags: [...memory.tags],
    ...(typeof shown.title === 'string' ? { title: shown.title } : {}),
    ...(path === null ? {} : { fileContext: { path } }),
    ...(memory.project === null || memory.project === named ? {} : { projectPath: memory.project }),
    ...unusual('source', 'ai_inferred'),
    ...unusual('weight', 3),
    ...unusual('confidence', DEFAULT_CONFIDENCE),
    ...unusual('count', 1),
    ...unusual('lastSeen', null),
  }
}
