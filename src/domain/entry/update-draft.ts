import type { Inspection } from '../flaws'
import { checkMetadata } from './check-metadata'
import { checkTags, checkText } from './draft'
import type { LifeChange } from './entry-write'
import type { DecodedImage, ImageInput } from './image'
import { checkIndexed } from './indexed'
import type { JsonObject, Metadata } from './metadata'

/** An update as a caller asks for it (threads contract §2.5). Absent fields stay as they are. */
export interface UpdateDraft {
  readonly id: number
  readonly text?: string | undefined
  /** Replaces the entry's own keys; reserved keys that it does not name stay (`replaceMetadata`). */
  readonly metadata?: Metadata | undefined
  /** RFC 7396. */
  readonly metadataPatch?: JsonObject | undefined
  readonly tags?: readonly string[] | undefined
  readonly images?: readonly ImageInput[] | undefined
  /** The version that the caller has seen. */
  readonly expectedVersion?: number | undefined
}

/** An update checked in itself, before any row is read. */
export interface CheckedUpdate extends Omit<UpdateDraft, 'images'> {
  readonly images?: readonly DecodedImage[]
  /** Makes the complete next metadata from those that are stored. */
  readonly merge?: (before: Metadata) => Metadata
  /** Of a memory: brings an archived one back. */
  readonly life?: LifeChange
}

/**
 * Notes what is wrong in itself, also that it asks for nothing, or for two things at once.
 *
 * @param indexed keys of metadata with an index
 */
export function checkUpdate(
  draft: UpdateDraft,
  wrong: Inspection,
  indexed: ReadonlySet<string> = new Set(),
): Omit<UpdateDraft, 'images'> {
  const { id, text, metadata, metadataPatch, tags, images, expectedVersion } = draft
  if (metadata !== undefined && metadataPatch !== undefined)
    wrong.refuse('metadata_patch', metadataPatch, 'Cannot use both metadata and metadata_patch')
  if ([text, metadata, metadataPatch, tags, images].every((field) => field === undefined))
    wrong.refuse('metadata_patch', undefined, 'At least one field must be provided for update')
  for (const [name, given] of [
    ['metadata', metadata],
    ['metadata_patch', metadataPatch],
  ] as const) {
    if (given === undefined) continue
    wrong.check(name, given, () => checkMetadata(given, name))
    wrong.check(name, given, () => checkIndexed(given, indexed, name))
  }
  return {
    id,
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...(text === undefined ? {} : { text: wrong.check('text', text, () => checkText(text)) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(metadataPatch === undefined ? {} : { metadataPatch }),
    ...(tags === undefined ? {} : { tags: wrong.check('tags', tags, () => checkTags(tags)) }),
  }
}

/** Which fields an update names, in the order that results list them. */
export const updatedFields = (update: CheckedUpdate): string[] => [
  ...(update.text === undefined ? [] : ['text_content']),
  ...(update.metadata === undefined && update.metadataPatch === undefined ? [] : ['metadata']),
  ...(update.tags === undefined ? [] : ['tags']),
  ...(update.images === undefined ? [] : ['images', 'content_type']),
]
