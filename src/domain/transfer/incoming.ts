import { createHash } from 'node:crypto'
import { checkMetadata, checkTags, checkThreadId, checkVerbatim, MAX_IMAGES, type WriteLimits } from '../entry/draft'
import { readerOf } from '../entry/entry'
import { extractMetadata } from '../entry/extracted-metadata'
import { type ImageRef, type ImageType, MEGABYTE } from '../entry/image'
import { checkIndexed } from '../entry/indexed'
import { kindOfTags } from '../entry/kind'
import type { JsonObject, Metadata } from '../entry/metadata'
import { invalidInput, limitExceeded, Problem } from '../errors'
import { CHANGED_PARTS } from '../history/version'
import { MAX_PROJECT } from '../identity/project'
import type { Scope } from '../identity/scope'
import { jsonText } from '../json/write'
import { codePointLength, trim, unstorable, utf8Length } from '../text'
import type { Millis } from '../time'
import type { EntryRecord, RecordOf } from './records'

/** Validates and converts imported records, beyond the checks of their schema. */

/** The importer and its limits. */
export interface ImportRules {
  readonly scope: Scope
  readonly keyId: string
  /** The time of the export, used where the file has no times. */
  readonly at: number
  readonly now: Millis
  readonly limits: WriteLimits
  /** Whether authors in the file are accepted: with ADMIN_TOKEN, and in open mode without a key. */
  readonly isTrusted: boolean
}

/** Maximum characters of names of keys, owners, agents and relations. */
const MAX_NAME = 256
const MAX_VERSION = 2_147_483_000
const MOST_LINKS = 10_000
const TYPES: readonly ImageType[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Checks all strings of a record for characters that a database cannot store. */
function checkStrings(value: unknown, path = ''): void {
  if (typeof value === 'string') {
    const flaw = unstorable(value)
    if (flaw !== null) throw invalidInput(`${path} ${flaw}`)
  } else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) {
      checkStrings(key, path)
      checkStrings(member, path === '' ? key : path)
    }
}

function checkNames(record: EntryRecord | RecordOf<'version'>): void {
  const { project, agent, owner, created_by, imported_from, changed_by, changed_agent, links = [] } = record
  if (project !== undefined && codePointLength(project) > MAX_PROJECT)
    throw limitExceeded(`project is longer than ${MAX_PROJECT} characters`)
  for (const [name, value] of Object.entries({ agent, owner, created_by, imported_from, changed_by, changed_agent }))
    if (value !== undefined && codePointLength(value) > MAX_NAME)
      throw limitExceeded(`${name} is longer than ${MAX_NAME} characters`)
  // Private entries belong to their owner or creator, so without these names they would be unreadable.
  for (const [name, value] of Object.entries({ owner, created_by }))
    if (value !== undefined && trim(value) === '') throw invalidInput(`${name} is blank. Leave it out`)
  if (links.length > MOST_LINKS)
    throw limitExceeded(`links has ${links.length} items; at most ${MOST_LINKS} are allowed`)
  if (links.some(({ relation }) => trim(relation) === '' || codePointLength(relation) > MAX_NAME))
    throw invalidInput(`the relation of a link must have 1 to ${MAX_NAME} characters`)
}

export function imagesOf({ images = [] }: EntryRecord | RecordOf<'version'>, { limits }: ImportRules): ImageRef[] {
  if (images.length > MAX_IMAGES)
    throw limitExceeded(`images has ${images.length} items; at most ${MAX_IMAGES} are allowed`)
  return images.map(({ sha256, mime_type, size, metadata }) => {
    const mimeType = TYPES.find((known) => known === mime_type)
    if (mimeType === undefined) throw invalidInput(`image ${sha256} is not a PNG, JPEG, GIF or WebP image`)
    if (size > limits.each) throw limitExceeded(`image ${sha256} exceeds ${limits.each / MEGABYTE}MB limit`)
    return { hash: sha256, mimeType, size, ...(metadata === undefined ? {} : { metadata }) }
  })
}

/** Checks strings and names of a record. */
function checkWords(record: EntryRecord | RecordOf<'version'>): void {
  checkStrings(record)
  checkNames(record)
}

function checkRanges({ layer = 2, weight = 3, version = 1 }: EntryRecord | RecordOf<'version'>): void {
  if (layer > 3) throw invalidInput('layer must be 1, 2 or 3')
  if (weight > 5) throw invalidInput('weight must be from 1 to 5')
  if (version > MAX_VERSION) throw limitExceeded(`version is above ${MAX_VERSION}`)
}

/** Checks that members agree with the metadata. @throws Problem */
function checkAgreement(record: EntryRecord | RecordOf<'version'>, lifted: ReturnType<typeof extractMetadata>): void {
  const against = (name: string, sent: unknown, there: unknown) => {
    throw invalidInput(`${name} ${JSON.stringify(sent)} contradicts the metadata, which have ${JSON.stringify(there)}`)
  }
  const { project, agent, audience, diary } = record
  if (project !== undefined && project !== lifted.project) against('project', project, lifted.project)
  if (agent !== undefined && agent !== lifted.agent) against('agent', agent, lifted.agent)
  if (audience !== undefined && audience !== lifted.audience) against('audience', audience, lifted.audience)
  if (diary === true && !lifted.diary) against('diary', diary, lifted.diary)
}

/**
 * Owner and keys of a state: from the file if it is trusted, else the importing key, with the creator from the file in
 * `imported_from`.
 */
function makersOf(record: EntryRecord | RecordOf<'version'>, { scope, keyId, isTrusted }: ImportRules) {
  const { owner: named, created_by: creator, imported_from: source = null, changed_by: changer = null } = record
  const owner = named ?? (creator === undefined ? scope.owner : null)
  if (isTrusted) return { owner, createdBy: creator ?? keyId, importedFrom: source, changedBy: changer }
  return {
    owner,
    createdBy: keyId,
    importedFrom: source ?? creator ?? null,
    changedBy: changer === null ? null : keyId,
  }
}

/** A link of an imported entry. */
export interface IncomingLink {
  readonly relation: string
  /** ID in this store. */
  readonly to: number
  readonly origin: 'metadata' | 'remember' | 'system'
}

type Value = string | number | null

/** A state of an entry as it is stored, without ID, version and links: column values by name. */
export interface IncomingEntry {
  readonly columns: Readonly<Record<string, Value>>
  readonly text: string
  readonly textHash: string
  readonly metadata: Metadata | null
  readonly images: readonly ImageRef[]
  /** Bytes of text and metadata. */
  readonly bytes: number
  readonly version: number
}

const ms = (time: string | undefined): number | null => (time === undefined ? null : Date.parse(time))
const flag = (value: boolean | undefined): number => (value === true ? 1 : 0)

/**
 * Converts a record to the state that is stored.
 * @param metadata metadata with IDs of this store
 * @throws Problem for a state that exceeds limits, contradicts itself, is in another project, or is private to another
 * owner
 */
export function incomingState(
  record: EntryRecord | RecordOf<'version'>,
  metadata: JsonObject | null,
  intake: ImportRules,
): IncomingEntry {
  const { scope, limits, at } = intake
  checkWords(record)
  const threadId = checkThreadId(record.thread_id)
  const text = checkVerbatim(record.text, 'text')
  const tags = checkTags(record.tags ?? [])
  const images = imagesOf(record, intake)
  if (metadata !== null) {
    checkMetadata(metadata)
    if (limits.indexed) checkIndexed(metadata, limits.indexed)
  }
  checkRanges(record)
  const { layer = 2, weight = 3, project = null, agent = null } = record
  if (project !== null && scope.projects !== null && !scope.projects.includes(project))
    throw new Problem('forbidden', `Project access denied: ${project}`)
  const lifted = extractMetadata(metadata, scope, agent, project)
  checkAgreement(record, lifted)
  const { owner, createdBy, importedFrom, changedBy } = makersOf(record, intake)
  if (lifted.captured && !intake.isTrusted && owner !== scope.owner)
    throw new Problem('forbidden', 'It is a captured session of another owner. Use a key of that owner, or ADMIN_TOKEN')
  const reader = readerOf(lifted, { owner, createdBy })
  if (scope.isWhole !== true && reader !== '' && reader !== scope.owner)
    throw new Problem('forbidden', 'It is private to another owner. Use a key of that owner, or ADMIN_TOKEN')
  const named = lifted.expiresAt
  const expiresAt = ms(record.expires_at)
  const layerExpires = expiresAt !== null && (named === null || expiresAt < named) ? expiresAt : null
  const metadataJson = metadata === null ? null : jsonText(metadata)
  const createdAt = ms(record.created_at) ?? at
  const bytes = utf8Length(text) + (metadataJson === null ? 0 : utf8Length(metadataJson))
  const textHash = createHash('sha256').update(text).digest('hex')
  return {
    text,
    textHash,
    metadata,
    images,
    bytes,
    version: record.version ?? 1,
    columns: {
      thread_id: threadId,
      source: record.source,
      layer,
      created_at: createdAt,
      updated_at: ms(record.updated_at) ?? createdAt,
      named_kind: lifted.namedKind,
      tag_kind: kindOfTags(tags),
      work_item: flag(lifted.workItem),
      title: lifted.title,
      project: lifted.project,
      domain: lifted.domain,
      agent: lifted.agent,
      audience: lifted.audience,
      diary: flag(lifted.diary),
      captured: flag(lifted.captured),
      status: lifted.status,
      confidence: lifted.confidence === null ? null : String(lifted.confidence),
      named_weight: lifted.weight,
      given_weight: weight,
      named_pinned: lifted.pinned === null ? null : flag(lifted.pinned),
      given_pinned: lifted.pinned === null ? flag(record.pinned) : 0,
      named_expires_at: named,
      layer_expires_at: layerExpires,
      // A captured entry is archived until it is approved.
      archived: flag(record.archived === true || lifted.captured),
      owner,
      created_by: createdBy,
      imported_from: importedFrom,
      changed_by: changedBy,
      changed_agent: record.changed_agent ?? null,
      accessed_at: ms(record.accessed_at),
      access_count: record.access_count ?? 0,
      text_hash: textHash,
      bytes,
      image_count: images.length,
      tags: JSON.stringify(tags),
      images: images.length === 0 ? null : jsonText(images),
      metadata: metadataJson,
      summary: record.summary ?? '',
    },
  }
}

/**
 * Converts a record to the current state of an entry. @throws Problem like `incomingState`, and for an expired entry
 */
export function incomingEntry(record: EntryRecord, metadata: JsonObject | null, intake: ImportRules): IncomingEntry {
  const state = incomingState(record, metadata, intake)
  const { named_expires_at: named, layer_expires_at: layer } = state.columns
  const ends = [named, layer].filter((end): end is number => typeof end === 'number')
  if (ends.some((end) => end <= intake.now)) throw invalidInput('It has expired')
  return state
}

/** A state without images whose bytes are missing everywhere. */
export function withoutImages(state: IncomingEntry, missing: ReadonlySet<string>): IncomingEntry {
  if (!state.images.some(({ hash }) => missing.has(hash))) return state
  const images = state.images.filter(({ hash }) => !missing.has(hash))
  const columns = { image_count: images.length, images: images.length === 0 ? null : jsonText(images) }
  return { ...state, images, columns: { ...state.columns, ...columns } }
}

export interface IncomingVersion extends IncomingEntry {
  readonly links: readonly IncomingLink[]
  readonly ended: {
    readonly at: number
    readonly version: number
    readonly by: string | null
    readonly agent: string | null
    readonly changeId: string
    readonly changed: number
    readonly deleted: boolean
  }
}

/** Converts a record to an old version. @throws Problem like `incomingState` */
export function incomingVersion(
  record: RecordOf<'version'>,
  metadata: JsonObject | null,
  links: readonly IncomingLink[],
  intake: ImportRules,
): IncomingVersion {
  const { at, version, by, agent, change_id, changed = [], deleted } = record.ended
  const state = incomingState(record, metadata, intake)
  const mask = CHANGED_PARTS.reduce((sum, part, bit) => sum + (changed.includes(part) ? 1 << bit : 0), 0)
  return {
    ...state,
    links,
    ended: {
      at: Date.parse(at),
      version: version ?? state.version + 1,
      by: by === undefined ? null : intake.isTrusted ? by : intake.keyId,
      agent: agent ?? null,
      changeId: change_id ?? createHash('sha256').update(`${record.id} ${state.version}`).digest('hex').slice(0, 32),
      changed: mask,
      deleted: deleted === true,
    },
  }
}
