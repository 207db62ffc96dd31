import type { Inspection } from '../flaws'
import { normalizeProject } from '../identity/project'
import { homesOf, type Principal } from '../identity/scope'
import { sha256Hex } from '../text'
import { checkMetadata, checkTags, checkText, checkUncaptured } from './draft'
import { type Entry, readerOf } from './entry'
import type { EntryChange, LifeChange } from './entry-write'
import type { DecodedImage, ImageInput } from './image'
import { checkIndexed } from './indexed'
import { extractMetadata, isCaptured } from './lifted-metadata'
import { linksOfMetadata } from './link'
import { type JsonObject, type Metadata, mergePatch, own, replaceMetadata } from './metadata'

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

const agentNamed = (metadata: Metadata | JsonObject | undefined): string | undefined => {
  const name = own(metadata ?? null, 'agent_name')
  return typeof name === 'string' && name.trim() !== '' ? name : undefined
}

/** Keeping what was captured takes the mark away, and the end that capturing gave it. */
function keptFrom(before: Metadata | null, after: Metadata): Metadata {
  const { captured: _, ...kept } = after
  if (own(kept, 'expires_at') === own(before, 'expires_at')) delete kept.expires_at
  return kept
}

/**
 * Metadata in which a merged project is named by the key under which the entry is stored. The caller names the project in which the entry
 * is, and an update that moves it from one key to the other would give it the readers of that key.
 */
function keptHome(principal: Principal, { project }: Pick<Entry, 'project'>, metadata: Metadata): Metadata {
  const named = own(metadata, 'project')
  if (typeof named !== 'string' || project === null || named === project) return metadata
  if (!homesOf(principal, named).includes(project)) return metadata
  return Object.assign(Object.create(null), metadata, { project })
}

/**
 * Applies updates of one entry, in order, to the row as it was read.
 *
 * @param entry one that is the caller's to change; its text is null where it is long
 * @throws Problem when the outcome is not allowed (metadata too large, audience unknown, project closed)
 */
export async function applyUpdates(
  principal: Principal,
  entry: Omit<Entry, 'text'> & { readonly text: string | null },
  updates: readonly CheckedUpdate[],
): Promise<EntryChange> {
  let text: string | undefined
  let metadata: Metadata | null | undefined
  let tags: readonly string[] | undefined
  let images: readonly DecodedImage[] | undefined
  let by: string | undefined
  let life: LifeChange | undefined
  for (const update of updates) {
    text = update.text ?? text
    tags = update.tags ?? tags
    images = update.images ?? images
    const before: Metadata | null = metadata === undefined ? entry.metadata : metadata
    const merged = update.merge?.(before ?? {})
    by = agentNamed(update.metadata ?? update.metadataPatch ?? merged) ?? by
    life = update.life ?? life
    if (update.metadata !== undefined) metadata = replaceMetadata(before, update.metadata)
    if (update.metadataPatch !== undefined) metadata = mergePatch(before ?? {}, update.metadataPatch)
    if (merged !== undefined) metadata = merged
  }
  if (metadata) {
    checkMetadata(metadata)
    if (!entry.captured) checkUncaptured(metadata)
    else if (!isCaptured(metadata)) metadata = keptFrom(entry.metadata, metadata)
  }
  // The entry keeps its writer's name where its metadata names none, and the project that it has from its writer's key.
  const named = own(entry.metadata, 'project')
  const keptProject = typeof named === 'string' && normalizeProject(named) !== null ? null : entry.project
  if (metadata) metadata = keptHome(principal, entry, metadata)
  const lifted = metadata ? extractMetadata(metadata, principal, entry.agent, keptProject) : null
  const affected = text !== undefined || lifted !== null
  return {
    id: entry.id,
    version: entry.version,
    steps: updates.length,
    ...(by === undefined ? {} : { by }),
    ...(life === undefined ? {} : { life }),
    ...(text === undefined ? {} : { text: { text, hash: await sha256Hex(text) } }),
    ...(metadata && lifted ? { metadata: { value: metadata, lifted, links: linksOfMetadata(metadata) } } : {}),
    ...(tags === undefined ? {} : { tags }),
    ...(images === undefined ? {} : { images }),
    ...(affected
      ? {
          indexed: {
            text: text ?? entry.text,
            threadId: entry.threadId,
            title: lifted ? lifted.title : entry.title,
            project: lifted ? lifted.project : entry.project,
            agent: lifted ? lifted.agent : entry.agent,
            reader: lifted ? readerOf(lifted, entry) : entry.reader,
            layer: entry.layer,
            metadata: metadata ?? entry.metadata,
            captured: lifted ? lifted.captured : entry.captured,
          },
        }
      : {}),
  }
}
