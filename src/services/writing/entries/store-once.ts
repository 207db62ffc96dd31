import { checkTags, type EntryDraft } from '../../../domain/entry/draft'
import { extractMetadata } from '../../../domain/entry/extracted-metadata'
import type { Caller } from '../../../domain/identity/scope'
import {
  type DuplicatePolicy,
  type DuplicateUpdate,
  type EqualEntry,
  type EqualMemory,
  equalityKeyOf,
} from '../../../domain/recall/duplicates'
import { sha256Hex } from '../../../domain/text'
import type { Memories } from '../../../ports/memories'
import { done, type Outcome, withFreshRead } from '../../outcome'
import type { StoredEntry, StoreEntries } from './store-entries'

/** Policy for drafts of which an equal memory is stored already (fabric contract §3). */
interface OncePolicy extends Pick<Parameters<StoreEntries>[2], 'along'> {
  /** The equal memory of each draft, if the caller has read it. */
  readonly known?: readonly (EqualMemory | null)[] | undefined
  /** Whether title, kind, owner and audience must be equal too. */
  readonly byName?: boolean
  /** The problem that is reported, for the first time or again. */
  readonly reported?: Pick<DuplicatePolicy, 'problem' | 'count'> | null | undefined
  /** Notes before each attempt which memories exist. */
  readonly plan: (equals: readonly (EqualMemory | null)[]) => void
}

const TOO_BUSY = 'An equal memory is being stored or deleted; try again'

/** Returns the change of the equal memory. @throws Problem limit_exceeded if it cannot hold more tags */
function renewalOf({ tags = [], memory }: EntryDraft, { id, tags: before }: EqualMemory): DuplicateUpdate {
  const more = tags.filter((tag) => !before.includes(tag))
  checkTags([...before, ...more])
  return { id, tags: more, lasts: memory?.life.lasts ?? null }
}

/** Returns the fields of a draft that are compared with memories. */
async function comparable(caller: Caller, draft: EntryDraft): Promise<EqualEntry> {
  const { text, metadata = null, memory, tags = [], source } = draft
  return {
    ...{ layer: memory?.layer ?? 2, textHash: await sha256Hex(text), source, tags },
    ...{ owner: caller.owner, createdBy: caller.keyId, lifted: extractMetadata(metadata, caller, caller.agent) },
  }
}

export type StoreOnce = ReturnType<typeof createStoreOnce>

/** Stores entries, or renews the equal memory if one exists. */
export function createStoreOnce({
  memories,
  storeEntries,
}: {
  readonly memories: Pick<Memories, 'equals'>
  readonly storeEntries: StoreEntries
}) {
  /** Reads the equal memory of each draft; a function, so that the read shares a round trip with others. */
  async function equals(caller: Caller, drafts: readonly EntryDraft[], byName = false) {
    const wanted = await Promise.all(drafts.map((draft) => comparable(caller, draft)))
    return (): Promise<(EqualMemory | null)[]> =>
      memories.equals(
        caller,
        wanted.map((one) => equalityKeyOf(one, byName)),
      )
  }

  return {
    equals,

    /**
     * Stores entries in order, all or none. Usually one commit; if an unknown equal memory exists, it reads it and commits again.
     *
     * @returns the outcomes of the drafts without an equal memory
     * @throws Problem conflict if others keep storing and deleting the same memory; then nothing is stored
     * @throws MeetingFailed if the reported problem has changed in between
     */
    async store(
      caller: Caller,
      drafts: readonly EntryDraft[],
      policy: OncePolicy,
    ): Promise<Outcome<StoredEntry | null>[]> {
      const { known = [], byName = false, reported, along, plan } = policy
      const store = (equal: readonly (EqualMemory | null)[]) => {
        const renewals = drafts.flatMap((draft, i) => (equal[i] ? renewalOf(draft, equal[i]) : []))
        plan(equal)
        return storeEntries(caller, drafts.filter((_, i) => !equal[i]).map(done), {
          ...{ atomic: true, dedupe: false, along },
          meeting: { problem: null, count: null, ...reported, renewals, ...(byName ? { byName } : {}) },
        })
      }
      if (reported) return store(known)
      const look = async () => (await equals(caller, drafts, byName))()
      return withFreshRead(known, { look, busy: TOO_BUSY }, store)
    },
  }
}
