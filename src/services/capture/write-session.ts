// How does what is gathered of a session become an entry, once, and stay what somebody has made of it?
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

/** Counts of a session, for its person. */
export interface SessionCounts extends UseCounts {
  /** Entries that hooks have written of it. */
  readonly captured: number
}

/** The thread of a session is named as the session: `session:<client>:<id>`. */
export const threadOfSession = (name: string): string => `session:${name}`

const clientOf = (name: string): string => name.slice(0, name.indexOf(':'))

/** Of the words as an entry holds them. */
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
  /** How long what nobody keeps is kept. */
  readonly captureDays: number
  /** What people call a client. */
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
   * The entry that a session already has: by what was noted, else by its thread, when its writer died before it noted it. Of one that has
   * expired nothing is left, unless somebody has kept it.
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
   * @param stood the digest of what hooks have written there before; null where that is not known
   * @returns whether it still is what hooks have captured, in their words, and was written
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
    // Somebody has kept or dropped it since.
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
   * Writes what is gathered, if that says anything new, and notes it, with what the session did with memories. The caller has claimed
   * the session.
   *
   * @returns how many memories it was shown and used, and entries that it became
   * @throws Problem when the store is full or does not answer; the session stays due
   */
  return async (by: Principal, session: CapturedSession): Promise<SessionCounts> => {
    const checkpoint = checkpointOf(session.gathered, titleOf(clientOf(session.name)))
    const { written } = session
    const digest = checkpoint && (await digestOf(checkpoint.title, checkpoint.text))
    const isOver = hasExpired(written, captureDays, clock.now())
    const caller: Caller = { ...by, action: 'hooks', tool: null, changeId: ids.next() }
    const isSame = digest === null || written?.closed === true || (!isOver && written?.digest === digest)
    // Asked in the same moment, so that both share a round trip.
    const [use, known] = await Promise.all([useOf(by, session), isSame ? null : entryOf(caller, session, isOver)])
    const note = async (now: Written | null): Promise<SessionCounts> => {
      await store.recordCheckpoint(by, session, now, use)
      return { ...countsOf(use), captured: now === null ? 0 : 1 }
    }
    if (checkpoint === null || digest === null || isSame) return note(written)
    const metadata = metadataOf(session, checkpoint)
    const next: Written = { entryId: known ?? 0, digest, at: clock.now() }
    if (known === null) return note({ ...next, entryId: await save(caller, session, checkpoint, metadata) })
    // A writer who died, or failed, may have written what he did not note: its claim still stands.
    const stood = session.claimedAt === null && written?.entryId === known ? written.digest : null
    const isWritten = await rewrite(caller, known, stood, checkpoint.text, metadata)
    return note(isWritten ? next : { ...next, closed: true })
  }
}
