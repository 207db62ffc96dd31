import { readerOf } from '../../../domain/entry/entry'
import { kindOfTags, resolveKind } from '../../../domain/entry/kind'
import { liftMetadata } from '../../../domain/entry/lifted-metadata'
import { threadOfProject } from '../../../domain/entry/thread'
import { Problem } from '../../../domain/errors'
import type { Caller } from '../../../domain/identity/scope'
import { type Equal, type Meeting, MeetingFailed, type Sameness } from '../../../domain/recall/equal'
import { DEFAULT_TTL, routeToLayer } from '../../../domain/recall/layers'
import { typeOfKind } from '../../../domain/recall/memory'
import { keptMetadata, projectOfWrite, sourceOfEntry, tagsOfMetadata, withKind } from '../../../domain/recall/metadata'
import { note } from '../../../domain/receipts/notes'
import { sha256Hex } from '../../../domain/text'
import type { Memories } from '../../../ports/memories'
import { done } from '../../outcome'
import type { Along } from '../entries/generate'
import type { StoreEntries } from '../entries/store-entries'
import {
  type LayeredDraft,
  type MemoryDraft,
  memoriesAs,
  type PlannedMemory,
  renewalOf,
  type StoredMemory,
  warningsOf,
} from './stored-memory'

/** Storing memories: new ones, and those that stand there already (fabric contract §3). */

/** What a store of memories brings along. */
export interface Beside {
  /** Is embedded by the same call. */
  readonly along?: Along | undefined
  /** A problem that is reported for the first time, or again. */
  readonly reported?: Pick<Meeting, 'problem' | 'count'> | null | undefined
  /** What stands there already, of each draft, where somebody has looked. */
  readonly equals?: readonly (Equal | null)[] | undefined
}

/** How often memories are looked for anew that others store at the same time. */
const MEETINGS = 5
const TOO_BUSY = 'An equal memory is stored and deleted by others at this moment; try again'

export function createStoreMemories({
  memories,
  storeEntries,
}: {
  readonly memories: Pick<Memories, 'equals'>
  readonly storeEntries: StoreEntries
}) {
  /** A memory as an entry, in the layer that it is stored in. */
  function draftOf(caller: Caller, draft: MemoryDraft): LayeredDraft {
    const { type, content, metadata, ttl } = draft
    const tags = tagsOfMetadata(metadata) ?? []
    const layer = routeToLayer({ layer: draft.layer, tags, ttl, type })
    const project = projectOfWrite(caller, metadata)
    const kept = keptMetadata(caller, null, { ...metadata, ...(project === null ? {} : { projectPath: project }) })
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

  /** What makes a memory equal to one that is to be stored. */
  async function samenessOf(caller: Caller, draft: LayeredDraft): Promise<Sameness> {
    const { text, metadata = {}, memory, tags, source } = draft
    const lifted = liftMetadata(metadata, caller, caller.agent)
    const kind = resolveKind(lifted.namedKind, kindOfTags(tags ?? []), lifted.workItem, source)
    return {
      ...{ layer: memory.layer, project: lifted.project, type: typeOfKind(kind), textHash: await sha256Hex(text) },
      reader: readerOf(lifted, { owner: caller.owner, createdBy: caller.keyId }),
    }
  }

  /** Reads what stands there already, of each. */
  async function equalsOf(caller: Caller, drafts: readonly LayeredDraft[]): Promise<() => Promise<(Equal | null)[]>> {
    const wanted = await Promise.all(drafts.map((draft) => samenessOf(caller, draft)))
    return () => memories.equals(caller, wanted)
  }

  /** One attempt of a store, of memories of which these stand there. */
  async function store(
    caller: Caller,
    drafts: readonly MemoryDraft[],
    entries: readonly LayeredDraft[],
    equals: readonly (Equal | null)[],
    { along, reported }: Beside,
  ): Promise<StoredMemory[]> {
    const fresh = entries.filter((_, i) => !equals[i])
    const renewals = entries.flatMap((entry, i) => (equals[i] ? renewalOf(entry, equals[i]) : []))
    const planned = entries.map((entry, i): PlannedMemory => {
      const equal = equals[i] ?? null
      const draft = drafts[i] as MemoryDraft
      const pinned = equal?.pinned ?? draft.pinned ?? draft.metadata.pinned === true
      return { layer: entry.memory.layer, pinned, warnings: warningsOf(draft, entry, equal), met: equal?.id ?? null }
    })
    note(caller, 'memories', planned)
    const outcomes = await storeEntries(caller, fresh.map(done), {
      ...{ atomic: true, dedupe: false, along },
      meeting: { problem: null, count: null, ...reported, renewals },
    })
    return memoriesAs(planned, outcomes)
  }

  return {
    /** Reads what stands there already, of each draft; a function, so that the reading shares a round trip with others. */
    equals: (caller: Caller, drafts: readonly MemoryDraft[]) =>
      equalsOf(
        caller,
        drafts.map((draft) => draftOf(caller, draft)),
      ),

    /**
     * Stores memories of one project in order, all or none; where an equal one stands, that one is met. One of layer 1 comes last, so
     * that it does not make room for itself. One commit as a rule; where something is met that nobody has looked for, it is looked for
     * and the commit made then.
     *
     * @throws Problem unavailable when vectors of layer 3 cannot be made; conflict where others store and delete the same all the while;
     * then nothing is stored
     * @throws MeetingFailed where a problem was reported that stands otherwise by now
     */
    async storeTogether(caller: Caller, drafts: readonly MemoryDraft[], beside: Beside = {}): Promise<StoredMemory[]> {
      const entries = drafts.map((draft) => draftOf(caller, draft))
      let equals: readonly (Equal | null)[] = beside.equals ?? []
      for (let attempt = 1; ; attempt++) {
        try {
          return await store(caller, drafts, entries, equals, beside)
        } catch (error) {
          if (!(error instanceof MeetingFailed) || beside.reported) throw error
          if (attempt === MEETINGS) throw new Problem('conflict', TOO_BUSY, {}, error)
          equals = await (await equalsOf(caller, entries))()
        }
      }
    },
  }
}
