import { createHash } from 'node:crypto'
import { checkMetadata } from '../entry/check-metadata'
import { checkTags, checkThreadId, checkVerbatim } from '../entry/draft'
import { readerOf } from '../entry/entry'
import type { ImageRef } from '../entry/image'
import { checkIndexed } from '../entry/indexed'
import { kindOfTags } from '../entry/kind'
import { liftMetadata } from '../entry/lifted-metadata'
import type { JsonObject, Metadata } from '../entry/metadata'
import { invalidInput, Problem } from '../errors'
import { jsonText } from '../json/write'
import { utf8Length } from '../text'
import { checkAgreement, checkRanges, checkWords, type Intake, imagesOf, makersOf } from './incoming-checks'
import type { EntryRecord, RecordOf } from './records'

/** A link of an entry that comes in. */
export interface IncomingLink {
  readonly relation: string
  /** Ours. */
  readonly to: number
  readonly origin: 'metadata' | 'remember' | 'system'
}

type Value = string | number | null

/** A state of an entry as it is stored, but its id, version and links: values of columns by name. */
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
 * A state as it is stored.
 *
 * @param metadata with ids of entries here
 * @param images those that have bytes
 * @throws Problem for what limits or the key's projects forbid, what contradicts itself, and what is another owner's alone
 */
export function incomingState(
  record: EntryRecord | RecordOf<'version'>,
  metadata: JsonObject | null,
  intake: Intake,
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
  const lifted = liftMetadata(metadata, scope, agent, project)
  checkAgreement(record, lifted)
  const { owner, createdBy, importedFrom, changedBy } = makersOf(record, intake)
  if (lifted.captured && !intake.isTrusted && owner !== scope.owner)
    throw new Problem(
      'forbidden',
      'It is a captured session of another owner; only that owner, or ADMIN_TOKEN, imports it',
    )
  const reader = readerOf(lifted, { owner, createdBy })
  if (scope.isWhole !== true && reader !== '' && reader !== scope.owner)
    throw new Problem('forbidden', 'It is private to another owner; only that owner, or ADMIN_TOKEN, imports it')
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
      // What is captured is archived as long as it is.
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

/** @throws Problem as above, and for what has expired */
export function incomingEntry(record: EntryRecord, metadata: JsonObject | null, intake: Intake): IncomingEntry {
  const state = incomingState(record, metadata, intake)
  const { named_expires_at: named, layer_expires_at: layer } = state.columns
  const ends = [named, layer].filter((end): end is number => typeof end === 'number')
  if (ends.some((end) => end <= intake.now)) throw invalidInput('It has expired')
  return state
}

/** A state without those of its images that have no bytes anywhere. */
export function withoutImages(state: IncomingEntry, missing: ReadonlySet<string>): IncomingEntry {
  if (!state.images.some(({ hash }) => missing.has(hash))) return state
  const images = state.images.filter(({ hash }) => !missing.has(hash))
  const columns = { image_count: images.length, images: images.length === 0 ? null : jsonText(images) }
  return { ...state, images, columns: { ...state.columns, ...columns } }
}
