import { type Checkpoint, checkpointOf } from '../../domain/capture/checkpoint'
import { hasExpired } from '../../domain/capture/hook-event'
import { countsOf, type MemoryUse, memoryUse, type UseCounts } from '../../domain/capture/usage'
import type { JsonObject } from '../../domain/entry/metadata'
import { Problem } from '../../domain/errors'
import type { Caller, Principal } from '../../domain/identity/scope'
import { sha256Hex, trim } from '../../domain/text'
import { DAY_MS } from '../../domain/time'
import type { CapturedSession, CaptureStore, Written } from '../../ports/capture'
import type { Clock } from '../../ports/clock'
import type { EntryStore } from '../../ports/entry-store'
import type { Ids } from '../../ports/ids'
import { done } from '../outcome'
import type { StoreEntries } from '../writing/entries/store-entries'
import type { UpdateEntries } from '../writing/entries/update-entries'

/** Counts of a session, shown to its person. */
export interface SessionCounts extends UseCounts {
  /** Entries that hooks wrote for the session. */
  readonly captured: number
}

/** Returns the thread of a session: `session:<client>:<id>`. */
export const threadOfSession = (name: string): string => `session:${name}`

const clientOf = (name: string): string => name.slice(0, name.indexOf(':'))

/** Computes the digest of an entry's title and text. */
const digestOf = (title: string, text: string): Promise<string> => sha256Hex(`${trim(title)}\n${trim(text)}`)

export type WriteSession = ReturnType<typeof createWriteSession>

export function createWriteSession({
  store,
  entries,
  storeEntries,
  updateEntries,
  captureDays,
  titleOf,
  clock,
  ids,
}: {
  readonly store: CaptureStore
  readonly entries: Pick<EntryStore, 'read'>
  readonly storeEntries: StoreEntries
  readonly updateEntries: UpdateEntries
  /** Days that captured entries are retained without approval. */
  readonly captureDays: number
  /** Returns the display name of a client. */
  readonly titleOf: (client: string) => string
  readonly clock: Clock
  readonly ids: Ids
}) {
  const metadataOf = ({ name, gathered }: CapturedSession, { title, work }: Checkpoint): JsonObject => {
    const { project, branch, audience } = gathered.place
    return {
      ...{ captured: true, kind: 'session', title, audience, client: clientOf(name) },
      ...(project === null ? {} : { project }),
      ...(branch === null ? {} : { branch }),
      work,
      expires_at: new Date(clock.now() + captureDays * DAY_MS).toISOString(),
    }
  }

  /**
   * Finds the entry of a session by the noted ID, or by its thread if the writer died before it noted the ID.
   *
   * An expired entry counts only if it was approved.
   */
  async function entryOf(caller: Caller, { name, written }: CapturedSession, isOver: boolean): Promise<number | null> {
    if (written !== null && (!isOver || (await entries.read(caller, [written.entryId])).length > 0))
      return written.entryId
    return store.entryOf(caller, threadOfSession(name))
  }

  async function useOf(by: Principal, { gathered }: CapturedSession): Promise<readonly MemoryUse[]> {
    const { shown, opened } = gathered.memories
    return memoryUse(gathered, await store.compared(by, [...new Set([...shown.map(({ id }) => id), ...opened])]))
  }

  /**
   * Rewrites the entry of a session.
   *
   * @param stood the digest of the text that hooks wrote before; null if unknown
   * @returns whether the entry still had that text, and was written
   */
  async function rewrite(
    caller: Caller,
    id: number,
    stood: string | null,
    text: string,
    metadata: JsonObject,
  ): Promise<boolean> {
    const [entry] = await entries.read(caller, [id])
    if (entry?.captured !== true) return false
    if (stood !== null && (await digestOf(entry.title ?? '', entry.text)) !== stood) return false
    const [outcome] = await updateEntries(caller, [done({ id, text, metadataPatch: metadata })], true)
    if (outcome === undefined || outcome.ok) return true
    // The entry was approved or dropped since.
    if (outcome.problem.code === 'invalid_input' || outcome.problem.code === 'not_found') return false
    throw outcome.problem
  }

  async function save(caller: Caller, session: CapturedSession, { text }: Checkpoint, metadata: JsonObject) {
    const draft = {
      threadId: threadOfSession(session.name),
      source: 'agent' as const,
      text,
      metadata,
      captured: true as const,
    }
    const [outcome] = await storeEntries(caller, [done(draft)], { atomic: true, dedupe: false })
    if (outcome?.ok && outcome.value) return outcome.value.id
    throw outcome?.ok === false ? outcome.problem : new Problem('internal', 'a captured session was not stored')
  }

  /**
   * Writes the collected state of a session if it has news, and records its use of memories. The caller holds the lease of the
   * session.
   *
   * @returns the memories that were shown and used, and the number of its entries
   * @throws Problem if the store is full or unavailable; the session stays due
   */
  return async (by: Principal, session: CapturedSession): Promise<SessionCounts> => {
    const checkpoint = checkpointOf(session.gathered, titleOf(clientOf(session.name)))
    const { written } = session
    const digest = checkpoint && (await digestOf(checkpoint.title, checkpoint.text))
    const isOver = hasExpired(written, captureDays, clock.now())
    const caller: Caller = { ...by, action: 'hooks', tool: null, changeId: ids.next() }
    const isSame = digest === null || written?.closed === true || (!isOver && written?.digest === digest)
    // Both queries start together to share a round trip.
    const [use, known] = await Promise.all([useOf(by, session), isSame ? null : entryOf(caller, session, isOver)])
    const note = async (now: Written | null): Promise<SessionCounts> => {
      await store.recordCheckpoint(by, session, now, use)
      return { ...countsOf(use), captured: now === null ? 0 : 1 }
    }
    if (checkpoint === null || digest === null || isSame) return note(written)
    const metadata = metadataOf(session, checkpoint)
    const next: Written = { entryId: known ?? 0, digest, at: clock.now() }
    if (known === null) return note({ ...next, entryId: await save(caller, session, checkpoint, metadata) })
    // The lease shows that an earlier writer may have written a text without recording it.
    const stood = session.claimedAt === null && written?.entryId === known ? written.digest : null
    const isWritten = await rewrite(caller, known, stood, checkpoint.text, metadata)
    return note(isWritten ? next : { ...next, closed: true })
  }
}
