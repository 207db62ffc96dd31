import { checkVerbatim } from '../../../domain/entry/draft'
import type { Generated, Layer } from '../../../domain/entry/entry'
import { notFound, Problem } from '../../../domain/errors'
import { checkVersion } from '../../../domain/history/version'
import type { Caller, Scope } from '../../../domain/identity/scope'
import { type Memory, memoryNotFound, type Shown } from '../../../domain/recall/memory'
import { note } from '../../../domain/receipts/notes'
import type { EntryStore } from '../../../ports/entry-store'
import type { Memories } from '../../../ports/memories'
import { attempt, withRetries } from '../../outcome'
import type { DeleteEntries } from '../entries/delete-entries'
import type { Generate } from '../entries/generate'
import type { StoreEntries } from '../entries/store-entries'
import { changeOf, type MemoryUpdate } from './memory-change'
import { createStoreMemories } from './store-memories'
import type { MemoryDraft, StoredMemory } from './stored-memory'

/** Memories in layers: storing, changing, promoting and deleting them (fabric contract §2, §3). */
export type { MemoryDraft, StoredMemory } from './stored-memory'

export type MemoryService = ReturnType<typeof createMemoryService>

export function createMemoryService(dependencies: {
  readonly memories: Memories
  readonly entries: Pick<EntryStore, 'change'>
  readonly deleteEntries: Pick<DeleteEntries, 'delete'>
  readonly storeEntries: StoreEntries
  readonly generate: Generate
  /** Whether vectors of the configured model stand beside an entry; without it, they are always made anew. */
  readonly isEmbedded?: (scope: Scope, id: number) => Promise<boolean>
}) {
  const { memories, entries, deleteEntries, generate, isEmbedded = async () => false } = dependencies
  const { storeTogether, equals } = createStoreMemories(dependencies)

  const mustFind = async (caller: Caller, project: string | null, id: number): Promise<Memory> => {
    const memory = await memories.findToChange(caller, project, id)
    if (memory === null) throw notFound(memoryNotFound(id))
    return memory
  }

  /** Vectors of a title and text, and a summary unless one is given. Without vectors of layer 3 the write fails, unless set otherwise. */
  const generateFor = async (
    { title, text, source }: Pick<Memory, 'title' | 'text' | 'source'>,
    layer: Layer,
    summary?: string,
  ): Promise<Generated> =>
    (
      await generate(
        [{ title, text, source, ...(summary === undefined ? {} : { summary }) }],
        layer === 3 ? undefined : 'defer',
      )
    )[0] as Generated

  return {
    /**
     * @throws Problem unavailable when vectors of layer 3 cannot be made; then nothing is stored
     */
    async store(caller: Caller, draft: MemoryDraft): Promise<StoredMemory> {
      const [stored] = await storeTogether(caller, [draft])
      return stored as StoredMemory
    },

    storeTogether,

    equals,

    reported: memories.reported,

    /** @throws Problem not_found, unsupported in layer 1, conflict after five lost races */
    async update(caller: Caller, project: string | null, id: number, update: MemoryUpdate): Promise<Memory> {
      if (update.content !== undefined) checkVerbatim(update.content, 'content')
      return withRetries(async () => {
        const memory = await mustFind(caller, project, id)
        checkVersion(memory, update.expectedVersion)
        if (memory.layer === 1)
          throw new Problem(
            'unsupported',
            'Working memories (layer 1) cannot be updated; store a new one or promote it',
          )
        const change = await changeOf(caller, memory, update, generateFor)
        const text = change.text?.text ?? memory.text
        if (caller.receipt && text !== update.content) caller.receipt.notes.text = text
        const [written] = await entries.change(caller, [change], { shows: true })
        return { ...(written?.after as Shown), text }
      })
    },

    /** @throws Problem not_found, conflict when it is in that layer or above, unavailable when vectors cannot be made */
    async promote(caller: Caller, project: string | null, id: number, layer: 2 | 3, expected?: number): Promise<void> {
      await withRetries(async () => {
        const memory = await mustFind(caller, project, id)
        checkVersion(memory, expected)
        if (memory.layer >= layer)
          throw new Problem(
            'conflict',
            `Memory ${id} is in layer ${memory.layer}; it can only be promoted to a higher one`,
          )
        await entries.change(caller, [
          {
            ...{ id, version: memory.version, steps: 1, life: { layer } },
            // The index knows what belongs to the whole org.
            indexed: { ...memory, layer },
            ...(layer === 3 && !(await isEmbedded(caller, id)) ? { generated: await generateFor(memory, 3) } : {}),
          },
        ])
      })
    },

    /** @returns the layer it was in @throws Problem not_found */
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
