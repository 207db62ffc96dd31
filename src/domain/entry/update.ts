import { normalizeProject } from '../identity/project'
import { homesOf, type Principal } from '../identity/scope'
import { sha256Hex } from '../text'
import type { IssueCollector } from '../validation'
import { isReanchoring } from './citation'
import { checkMetadata, checkTags, checkText, checkUncaptured } from './draft'
import { type Entry, readerOf } from './entry'
import type { EntryChange, LifeChange } from './entry-write'
import { extractMetadata, isCaptured } from './extracted-metadata'
import type { DecodedImage, ImageInput } from './image'
import { checkIndexed } from './indexed'
import { linksOfMetadata } from './link'
import { type JsonObject, type Metadata, mergePatch, own, replaceMetadata } from './metadata'

/** An update as requested (threads contract §2.5). Absent fields do not change. */
export interface UpdateDraft {
  readonly id: number
  readonly text?: string | undefined
  /** Replaces metadata; reserved keys that it does not contain remain (`replaceMetadata`). */
  readonly metadata?: Metadata | undefined
  /** A JSON Merge Patch (RFC 7396). */
  readonly metadataPatch?: JsonObject | undefined
  readonly tags?: readonly string[] | undefined
  readonly images?: readonly ImageInput[] | undefined
  /** The version that the caller has read. */
  readonly expectedVersion?: number | undefined
}

/** A validated update, before any row is read. */
export interface CheckedUpdate extends Omit<UpdateDraft, 'images'> {
  readonly images?: readonly DecodedImage[]
  /** Computes the complete new metadata from the stored ones. */
  readonly merge?: (before: Metadata) => Metadata
  /** For a memory: restores it if it is archived. */
  readonly life?: LifeChange
}

/**
 * Validates an update without its images, including that it has at least one field and not two conflicting ones.
 * @param indexed indexed keys of metadata
 */
export function checkUpdate(
  draft: UpdateDraft,
  wrong: IssueCollector,
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

/** Names of the fields in an update, in the order of results. */
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

/** Whether an update changes only where the sources of an entry are, so that an approval of its content still counts. */
const isOnlyReanchoring = (
  { metadataPatch, text, metadata, tags, images, merge, life }: CheckedUpdate,
  before: Metadata | null,
): boolean =>
  metadataPatch !== undefined &&
  [text, metadata, tags, images, merge, life].every((other) => other === undefined) &&
  isReanchoring(before, metadataPatch)

/** Approves a captured entry: removes the mark and the expiry that capturing set. */
function keptFrom(before: Metadata | null, after: Metadata): Metadata {
  const { captured: _, ...kept } = after
  if (own(kept, 'expires_at') === own(before, 'expires_at')) delete kept.expires_at
  return kept
}

/**
 * Replaces the name of a merged project by the key under which the entry is stored. The caller means the same project,
 * and storing the other key would change who can read the entry.
 */
function keptHome(principal: Principal, { project }: Pick<Entry, 'project'>, metadata: Metadata): Metadata {
  const named = own(metadata, 'project')
  if (typeof named !== 'string' || project === null || named === project) return metadata
  if (!homesOf(principal, named).includes(project)) return metadata
  return Object.assign(Object.create(null), metadata, { project })
}

/**
 * Applies updates of one entry, in order, to the row that was read.
 * @param entry an entry that the caller can change; its text is null where it is long
 * @throws Problem when the result is invalid (metadata too large, unknown audience, forbidden project)
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
  let keepsApproval = true
  for (const update of updates) {
    text = update.text ?? text
    tags = update.tags ?? tags
    images = update.images ?? images
    const before: Metadata | null = metadata === undefined ? entry.metadata : metadata
    keepsApproval &&= isOnlyReanchoring(update, before)
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
  // Without an agent in its metadata, the entry keeps its writer; without a project, it keeps the one from its writer's
  // key.
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
    ...(keepsApproval ? { keepsApproval } : {}),
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
