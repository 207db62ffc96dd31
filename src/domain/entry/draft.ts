import { invalidInput, limitExceeded } from '../errors'
import type { Principal } from '../identity/scope'
import { MAX_DEPTH } from '../json/lossy-values'
import { codePointLength, firstCodePoints, sha256Hex, trim, utf8Length } from '../text'
import { IssueCollector } from '../validation'
import { type Layer, NOTHING_GENERATED, type Source } from './entry'
import type { EntryVersion, Life, NewEntry } from './entry-write'
import {
  audienceOf,
  diaryOf,
  type ExtractedMetadata,
  expiryOf,
  extractMetadata,
  isCaptured,
} from './extracted-metadata'
import { type DecodedImage, decodeImages, type ImageInput, type ImageLimits } from './image'
import { checkIndexed } from './indexed'
import { type LinkTarget, linksOfMetadata } from './link'
import { checkMetadataSize, isDeeper, type Metadata, own, replaceMetadata } from './metadata'
import { normalizeTags } from './selection'

function checkCaptured(metadata: Metadata): void {
  const value = own(metadata, 'captured')
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw invalidInput('metadata.captured must be true or false')
}

/** Rejects metadata with `captured`, which only hooks can set. @throws Problem invalid_input */
export function checkUncaptured(metadata: Metadata | null): void {
  if (isCaptured(metadata))
    throw invalidInput('metadata.captured is reserved for sessions that hooks capture. Leave it out')
}

/** Checks size, nesting and protecting keys of metadata. @throws Problem */
export function checkMetadata(metadata: Metadata, name = 'metadata'): void {
  if (isDeeper(metadata, MAX_DEPTH)) throw limitExceeded(`${name} is nested deeper than ${MAX_DEPTH} levels`)
  checkMetadataSize(metadata, name)
  checkProtection(metadata)
}

/** Checks the keys that protect an entry, and reports all invalid ones. @throws Problem */
function checkProtection(metadata: Metadata): void {
  const wrong = new IssueCollector()
  wrong.check('metadata.audience', own(metadata, 'audience'), () => audienceOf(metadata))
  wrong.check('metadata.captured', own(metadata, 'captured'), () => checkCaptured(metadata))
  wrong.check('metadata.diary', own(metadata, 'diary'), () => diaryOf(metadata))
  wrong.check('metadata.expires_at', own(metadata, 'expires_at'), () => expiryOf(metadata))
  wrong.end()
}

/** An entry as requested: valid in form, not yet in meaning. */
export interface EntryDraft {
  readonly threadId: string
  readonly source: Source
  readonly text: string
  readonly metadata?: Metadata | undefined
  readonly tags?: readonly string[] | undefined
  readonly images?: readonly ImageInput[] | undefined
  /** For a memory of the fabric family: layer and lifetime. Its text is stored verbatim. Without it, layer 2. */
  readonly memory?: { readonly layer: Layer; readonly life: Life } | undefined
  /** Links given as an argument, in addition to those in metadata. */
  readonly related?: readonly LinkTarget[] | undefined
  /** Set for entries of hooks, whose metadata contain `captured`. */
  readonly captured?: true | undefined
  /** The entries that it summarizes, at the versions that were read. */
  readonly digestOf?: readonly EntryVersion[] | undefined
}

export const MAX_TEXT_BYTES = 1_000_000
export const MAX_THREAD_ID = 256
export const MAX_TAGS = 100
const MAX_TAG = 128
export const MAX_IMAGES = 10

/** The trimmed text. @throws Problem when it is blank or too long */
export const checkText = (text: string): string => checkVerbatim(trim(text), 'text')

/** The unchanged text. @throws Problem when it is blank or too long */
export function checkVerbatim(text: string, field: string): string {
  if (trim(text) === '') throw invalidInput(`${field} cannot be empty or whitespace`)
  const bytes = utf8Length(text)
  if (bytes > MAX_TEXT_BYTES)
    throw limitExceeded(
      `${field} has ${bytes} UTF-8 bytes; at most ${MAX_TEXT_BYTES} are allowed. Split it into several entries`,
    )
  return text
}

/** The trimmed thread ID. @throws Problem when it is blank or too long */
export function checkThreadId(threadId: string): string {
  const trimmed = trim(threadId)
  if (trimmed === '') throw invalidInput('thread_id cannot be empty or whitespace')
  if (codePointLength(trimmed) > MAX_THREAD_ID)
    throw limitExceeded(`thread_id has more than ${MAX_THREAD_ID} characters`)
  return trimmed
}

/** The normalized tags. @throws Problem when there are too many, or one is too long */
export function checkTags(tags: readonly string[]): string[] {
  if (tags.length > MAX_TAGS) throw limitExceeded(`tags has ${tags.length} items; at most ${MAX_TAGS} are allowed`)
  const normalized = normalizeTags(tags)
  const long = normalized.find((tag) => codePointLength(tag) > MAX_TAG)
  if (long !== undefined)
    throw limitExceeded(
      `tag "${firstCodePoints(long, 40)}…" is too long: it has ${codePointLength(long)} characters, at most ${MAX_TAG} are allowed`,
    )
  return normalized
}

/** Limits of one write. */
export interface WriteLimits extends ImageLimits {
  /** Indexed keys of metadata, which cannot contain large lists or objects. */
  readonly indexed?: ReadonlySet<string>
}

/**
 * A repeated store with the reserved keys of the existing entry that its own metadata do not contain (threads contract
 * §2.2).
 * @param before metadata of the existing entry
 * @throws Problem when the combined metadata are invalid
 */
export function keepReserved(principal: Principal, entry: NewEntry, before: Metadata | null): NewEntry {
  if (entry.metadata === null) return entry
  const metadata = replaceMetadata(before, entry.metadata)
  checkMetadata(metadata)
  const lifted = extractMetadata(metadata, principal, principal.agent)
  return { ...entry, metadata, lifted, links: linksOfMetadata(metadata) }
}

export interface PreparedEntry {
  readonly entry: NewEntry
  readonly images: readonly DecodedImage[]
}

/**
 * Validates a draft and derives everything that the store needs.
 * @param spentImageBytes bytes of images earlier in the same request
 * @throws Problem
 */
export async function prepareEntry(
  principal: Principal,
  draft: EntryDraft,
  limits: WriteLimits,
  spentImageBytes: number,
): Promise<PreparedEntry> {
  const metadata = draft.metadata ?? null
  const wrong = new IssueCollector()
  const threadId = wrong.check('thread_id', draft.threadId, () => checkThreadId(draft.threadId)) as string
  const checked = () => (draft.memory ? checkVerbatim(draft.text, 'content') : checkText(draft.text))
  const text = wrong.check('text', draft.text, checked) as string
  const tags = draft.tags ? (wrong.check('tags', draft.tags, () => checkTags(draft.tags ?? [])) as string[]) : null
  const lifted = wrong.check('metadata', metadata, () => {
    if (metadata !== null) {
      checkMetadata(metadata)
      if (draft.captured !== true) checkUncaptured(metadata)
      if (limits.indexed) checkIndexed(metadata, limits.indexed)
    }
    return extractMetadata(metadata, principal, principal.agent)
  }) as ExtractedMetadata
  const images = await decodeImages(draft.images ?? [], limits, { spent: spentImageBytes, wrong })
  wrong.end()
  return {
    entry: {
      threadId,
      source: draft.source,
      layer: draft.memory?.layer ?? 2,
      life: draft.memory?.life,
      text,
      textHash: await sha256Hex(text),
      metadata,
      lifted,
      links: linksOfMetadata(metadata),
      related: draft.related ?? [],
      digestOf: draft.digestOf ?? [],
      tags,
      images: draft.images ? images : null,
      generated: NOTHING_GENERATED,
      owner: principal.owner,
      createdBy: principal.keyId,
    },
    images,
  }
}
