import { DeleteRefused, type DeleteSelection, type Erased, type EraseSelection } from '../../../domain/entry/selection'
import { noSuchEntry, unavailable } from '../../../domain/errors'
import { checkVersion, type HistoryTerms, restorableUntil } from '../../../domain/history/version'
import { MOST_DELETED } from '../../../domain/identity/audit'
import type { Caller } from '../../../domain/identity/scope'
import { mostSimilarName } from '../../../domain/name-similarity'
import { note } from '../../../domain/receipts/notes'
import type { Millis } from '../../../domain/time'
import type { EntryStore } from '../../../ports/entry-store'

/** Threads that are compared with an unknown name: the last used. */
const MOST_COMPARED = 200
/** Unknown threads that one answer names. */
const MOST_NAMED = 5

/** Attempts with fresh reads after a lost race. */
const TRIES = 5

/** The result of a deletion. */
export interface Deleted {
  readonly count: number
  /** Time until which it can be undone, in milliseconds since 1970; null if it cannot. */
  readonly until: number | null
}

export type DeleteEntries = ReturnType<typeof createDeleteEntries>

export function createDeleteEntries({
  entries,
  terms,
  now,
}: {
  readonly entries: Pick<EntryStore, 'delete' | 'erase' | 'wouldDelete' | 'finishDeletes' | 'current' | 'threads'>
  readonly terms: HistoryTerms
  readonly now: () => Millis
}) {
  /** Explains a failed precondition; returns if it holds now. @throws Problem not_found, conflict */
  async function explain(caller: Caller, { ids, expectedVersion, mustStand, captured = [] }: DeleteSelection) {
    for (const [one, version] of captured) {
      const entry = await entries.current(caller, one)
      if (entry?.captured !== true) throw noSuchEntry(one)
      checkVersion(entry, version === 0 ? undefined : version)
    }
    const [id] = ids ?? []
    if ((expectedVersion === undefined && !mustStand) || id === undefined) return
    const entry = await entries.current(caller, id)
    if (entry === null) throw noSuchEntry(id)
    checkVersion(entry, expectedVersion)
  }

  /** Repeats a deletion after removing what blocked it. */
  async function persist<T>(
    caller: Caller,
    selection: DeleteSelection,
    erases: boolean,
    step: () => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await step()
      } catch (error) {
        if (!(error instanceof DeleteRefused)) throw error
        const finished = erases && (await entries.finishDeletes(caller, selection))
        if (!finished) await explain(caller, selection)
        if (attempt === TRIES) throw unavailable('The entry is being changed; nothing was deleted, try again')
      }
    }
  }

  /** Counts what would be deleted; removes nothing. @throws Problem as `delete` */
  const look = (caller: Caller, selection: DeleteSelection, erases = false) =>
    persist(caller, selection, false, () => entries.wouldDelete(caller, selection, erases))

  return {
    /**
     * Deletes entries that the caller can change; at most the first `MOST_DELETED` by ID.
     *
     * @throws Problem not_found or conflict if the only named entry is missing or at another version; unavailable after five lost
     *   races
     * @example
     * await services.deleteEntries.delete(caller, { ids: [42], expectedVersion: 3 })
     */
    async delete(caller: Caller, selection: DeleteSelection): Promise<Deleted> {
      const until = restorableUntil(terms, now())
      note(caller, 'until', until)
      const count = await persist(caller, selection, false, () => entries.delete(caller, selection))
      return { count, until }
    },

    /** Deletes permanently, including retained versions. @throws Problem as `delete` */
    erase: (caller: Caller, selection: EraseSelection): Promise<Erased> =>
      persist(caller, selection, true, () => entries.erase(caller, selection)),

    look,

    /** Returns a warning for each unknown thread, with the most similar existing one. */
    async unknownThreads(caller: Caller, threadIds: readonly string[]): Promise<string[]> {
      if (threadIds.length === 0) return []
      const { threads } = await entries.threads(caller, { limit: MOST_COMPARED, offset: 0 })
      const names = threads.map(({ threadId }) => threadId)
      const unknown = threadIds.filter((name) => !names.includes(name)).slice(0, MOST_NAMED)
      return unknown.map((name) => {
        const nearest = mostSimilarName(name, names)
        const meant = nearest === null ? '' : `; the most similar thread is ${JSON.stringify(nearest.slice(0, 100))}`
        return `Nothing was deleted: you have no entries in thread ${JSON.stringify(name.slice(0, 100))}${meant}`
      })
    },

    /** Counts the entries left for another call. @param taken number deleted by this call */
    async remaining(caller: Caller, selection: DeleteSelection, taken: number, erases: boolean): Promise<number> {
      return taken < MOST_DELETED ? 0 : (await look(caller, selection, erases)).count
    },
  }
}
