import { checkTags, checkVerbatim, type EntryDraft } from '../../../domain/entry/draft'
import type { Generated, Layer } from '../../../domain/entry/entry'
import { kindOfMetadata } from '../../../domain/entry/kind'
import { type Metadata, own } from '../../../domain/entry/metadata'
import { threadOfProject } from '../../../domain/entry/selection'
import type { CheckedUpdate } from '../../../domain/entry/update'
import { statusWarnings } from '../../../domain/entry/work'
import { notFound, Problem } from '../../../domain/errors'
import { checkVersion } from '../../../domain/history/version'
import type { Caller, Scope } from '../../../domain/identity/scope'
import { differingFields, type EqualMemory } from '../../../domain/recall/duplicates'
import { DEFAULT_TTL, routeToLayer } from '../../../domain/recall/layers'
import { type Memory, type MemoryType, memoryNotFound, type Shown } from '../../../domain/recall/memory'
import {
  projectOfWrite,
  sourceOfEntry,
  storedMetadata,
  tagsOfMetadata,
  withKind,
} from '../../../domain/recall/memory-metadata'
import { note } from '../../../domain/receipts/notes'
import { sha256Hex } from '../../../domain/text'
import type { EntryStore } from '../../../ports/entry-store'
import type { Memories } from '../../../ports/memories'
import { attempt, done, type Outcome, onlyValue, withRetries } from '../../outcome'
import type { DeleteEntries } from '../entries/delete-entries'
import type { Generate } from '../entries/generate'
import { type StoredEntry, type StoreEntries, VECTORS_LATER } from '../entries/store-entries'
import { createStoreOnce, type StoreOnce } from '../entries/store-once'
import type { UpdateEntries } from '../entries/update-entries'

export interface MemoryDraft {
  readonly type: MemoryType
  readonly content: string
  /** Known keys are validated. */
  readonly metadata: Metadata
  readonly layer?: Layer | undefined
  /** Seconds. */
  readonly ttl?: number | undefined
  readonly pinned?: boolean | undefined
}

export interface StoredMemory {
  readonly id: number
  readonly layer: Layer
  readonly pinned: boolean
  /** Whether an equal memory existed. */
  readonly existing: boolean
  readonly evicted: readonly number[]
  readonly warnings: readonly string[]
}

/** A memory as an entry with its layer. */
export type LayeredDraft = EntryDraft & { readonly memory: NonNullable<EntryDraft['memory']> }

/** The notes about each memory before its write. */
export interface PlannedMemory extends Pick<StoredMemory, 'layer' | 'pinned' | 'warnings'> {
  /** The equal memory that existed; null for a new one. */
  readonly met: number | null
}

/** Returns the warnings about a stored memory. @param metadata as they would be stored */
export function warningsOf(
  { ttl, pinned }: MemoryDraft,
  { memory: { layer }, metadata }: LayeredDraft,
  equal: EqualMemory | null,
): string[] {
  // The argument is also in the metadata; it is named once.
  const differences = equal === null ? [] : differingFields(equal, { metadata: metadata ?? {}, pinned })
  const others = differences.filter((name) => pinned === undefined || name !== 'metadata.pinned')
  const by = equal?.supersededBy
  return [
    ...(ttl !== undefined && layer !== 1 ? ['ttl applies to layer 1 only'] : []),
    ...statusWarnings(kindOfMetadata(metadata ?? null), own(metadata ?? null, 'status')),
    ...(others.length === 0 ? [] : [`Memory ${equal?.id} already exists and keeps its own ${others.join(', ')}`]),
    ...(by === undefined ? [] : [`Memory ${equal?.id} already exists and is superseded by ${by}: packs leave it out`]),
  ]
}

/** Builds the results of memories. @param outcomes of the new ones, in order */
export function memoriesAs(
  planned: readonly PlannedMemory[],
  outcomes: readonly Outcome<Pick<StoredEntry, 'id' | 'evicted' | 'made'> | null>[],
): StoredMemory[] {
  const failed = outcomes.find((outcome) => !outcome.ok)
  if (failed?.ok === false) throw failed.problem
  const stored = outcomes.values()
  return planned.map(({ met, ...common }) => {
    if (met !== null) return { ...common, id: met, existing: true, evicted: [] }
    const { value: outcome } = stored.next()
    const { id, evicted, made } = onlyValue(outcome === undefined ? [] : [outcome])
    const later = made.includes('embedding queued') ? [VECTORS_LATER] : []
    return { ...common, id, evicted, warnings: [...common.warnings, ...later], existing: false }
  })
}

/** The fields to update; absent fields do not change. */
interface MemoryUpdate {
  readonly content?: string | undefined
  /** By top-level key: a value replaces, null removes. */
  readonly metadata?: Metadata | undefined
  readonly tags?: readonly string[] | undefined
  readonly weight?: number | undefined
  readonly pinned?: boolean | undefined
  /** The version that the caller has seen. */
  readonly expectedVersion?: number | undefined
}

/** Converts it to an update of an entry. */
function updateOf(caller: Caller, id: number, update: MemoryUpdate): CheckedUpdate {
  const { content, metadata, weight, pinned } = update
  const tags = update.tags ? checkTags(update.tags) : tagsOfMetadata(metadata ?? {})
  const named = { ...metadata, ...(weight === undefined ? {} : { weight }) }
  const merge = (before: Metadata): Metadata => {
    const merged = storedMetadata(caller, before, named)
    // The metadata contain it too, so that filters of all families find it.
    if (pinned === true || (pinned === false && typeof merged.pinned === 'boolean')) merged.pinned = pinned
    return merged
  }
  return {
    ...{ id, life: pinned === undefined ? {} : { pinned } },
    ...(content === undefined ? {} : { text: content }),
    ...(metadata === undefined && weight === undefined && pinned === undefined ? {} : { merge }),
    ...(tags === null ? {} : { tags }),
  }
}

/** Options that are passed on to the store. */
type Beside = Omit<Parameters<StoreOnce['store']>[2], 'plan' | 'byName'>

/** Converts a memory to an entry in its layer. */
function draftOf(caller: Caller, draft: MemoryDraft): LayeredDraft {
  const { type, content, metadata, ttl } = draft
  const tags = tagsOfMetadata(metadata) ?? []
  const layer = routeToLayer({ layer: draft.layer, tags, ttl, type })
  const project = projectOfWrite(caller, metadata)
  const kept = storedMetadata(caller, null, { ...metadata, ...(project === null ? {} : { projectPath: project }) })
  return {
    threadId: threadOfProject(project),
    source: sourceOfEntry(metadata),
    text: content,
    metadata: withKind(kept, type),
    tags,
    memory: {
      layer,
      life: { pinned: draft.pinned ?? false, lasts: layer === 1 ? (ttl ?? DEFAULT_TTL) * 1000 : null },
    },
  }
}

export type MemoryService = ReturnType<typeof createMemoryService>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createMemoryService(dependencies: {
  readonly memories: Memories
  readonly entries: Pick<EntryStore, 'change'>
  readonly deleteEntries: Pick<DeleteEntries, 'delete'>
  readonly storeEntries: StoreEntries
  readonly updateEntries: Pick<UpdateEntries, 'applyChecked'>
  readonly generate: Generate
  /** Reports whether an entry has vectors of the configured model; without it, they are always computed again. */
  readonly isEmbedded?: (scope: Scope, id: number) => Promise<boolean>
}) {
  const { memories, entries, deleteEntries, updateEntries, generate, isEmbedded = async () => false } = dependencies
  const storeOnce = createStoreOnce(dependencies)

  const mustFind = async (caller: Caller, project: string | null, id: number): Promise<Memory> => {
    const memory = await memories.findToChange(caller, project, id)
    if (memory === null) throw notFound(memoryNotFound(id))
    return memory
  }

  /**
   * Stores memories of one project in order, all or none; an equal one is renewed instead.
   *
   * A memory of layer 1 comes last, so that it does not evict itself.
   *
   * @throws Problem unavailable if vectors of layer 3 cannot be computed; otherwise as `StoreOnce`
   */
  async function storeTogether(
    caller: Caller,
    drafts: readonly MemoryDraft[],
    beside: Beside = {},
  ): Promise<StoredMemory[]> {
    const entries = drafts.map((draft) => draftOf(caller, draft))
    let planned: PlannedMemory[] = []
    const plan = (equals: readonly (EqualMemory | null)[]) => {
      planned = entries.map((entry, i) => {
        const equal = equals[i] ?? null
        const draft = drafts[i] as MemoryDraft
        const pinned = equal?.pinned ?? draft.pinned ?? draft.metadata.pinned === true
        return { layer: entry.memory.layer, pinned, warnings: warningsOf(draft, entry, equal), met: equal?.id ?? null }
      })
      note(caller, 'memories', planned)
    }
    const outcomes = await storeOnce.store(caller, entries, { ...beside, plan })
    return memoriesAs(planned, outcomes)
  }

  return {
    /**
     * Stores a memory.
     *
     * @throws Problem unavailable if vectors of layer 3 cannot be computed; then nothing is stored
     * @example
     * await services.memories.store(caller, { type: 'decision', content: 'Sessions live in D1', metadata: { projectPath: 'ferry' } })
     */
    async store(caller: Caller, draft: MemoryDraft): Promise<StoredMemory> {
      const [stored] = await storeTogether(caller, [draft])
      return stored as StoredMemory
    },

    storeTogether,

    /** Reads the equal memory of each draft; a function, so that the read shares a round trip with others. */
    equals: (caller: Caller, drafts: readonly MemoryDraft[]) =>
      storeOnce.equals(
        caller,
        drafts.map((draft) => draftOf(caller, draft)),
      ),

    reported: memories.reported,

    /** Updates a memory of layer 2 or 3. @throws Problem not_found, unsupported in layer 1, conflict after five lost races */
    async update(caller: Caller, project: string | null, id: number, update: MemoryUpdate): Promise<Memory> {
      const { content, expectedVersion } = update
      if (content !== undefined) checkVerbatim(content, 'content')
      let text = content
      const read = async () => {
        const memory = await mustFind(caller, project, id)
        checkVersion(memory, expectedVersion)
        if (memory.layer === 1)
          throw new Problem(
            'unsupported',
            'Working memories (layer 1) cannot be updated; store a new one or promote it',
          )
        if (content === undefined) text = memory.text
        if (content === undefined && caller.receipt) caller.receipt.notes.text = memory.text
        return [{ ...memory, textHash: await sha256Hex(memory.text) }]
      }
      const checked = [done(updateOf(caller, id, update))]
      const { after } = onlyValue(
        await updateEntries.applyChecked(caller, checked, { atomic: true, read, shows: true }),
      )
      return { ...(after as Shown), text: text as string }
    },

    /**
     * Promotes a memory to a higher layer.
     *
     * @throws Problem not_found, conflict if it is in that layer or above, unavailable if vectors cannot be computed
     */
    async promote(caller: Caller, project: string | null, id: number, layer: 2 | 3, expected?: number): Promise<void> {
      await withRetries(async () => {
        const memory = await mustFind(caller, project, id)
        const { title, text, source } = memory
        checkVersion(memory, expected)
        if (memory.layer >= layer)
          throw new Problem(
            'conflict',
            `Memory ${id} is in layer ${memory.layer}; it can only be promoted to a higher one`,
          )
        await entries.change(caller, [
          {
            ...{ id, version: memory.version, steps: 1, life: { layer } },
            // The index stores which memories belong to the complete organization.
            indexed: { ...memory, layer },
            ...(layer === 3 && !(await isEmbedded(caller, id))
              ? { generated: (await generate([{ title, text, source }]))[0] as Generated }
              : {}),
          },
        ])
      })
    },

    /** Deletes a memory. @returns the layer it was in @throws Problem not_found */
    async delete(caller: Caller, project: string | null, id: number, expected?: number): Promise<Layer> {
      const { layer } = await mustFind(caller, project, id)
      note(caller, 'layer', layer)
      const selection = { ids: [id], mustStand: true, ...(expected === undefined ? {} : { expectedVersion: expected }) }
      const gone = await attempt(() => deleteEntries.delete(caller, selection))
      if (gone.ok) return layer
      throw gone.problem.code === 'not_found' ? notFound(memoryNotFound(id)) : gone.problem
    },

    get: memories.access,
    list: memories.list,
    count: memories.count,
  }
}
