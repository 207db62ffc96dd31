// What does a delete do when it is refused, and what does it tell of what it took?

import { DeleteRefused, type DeleteSelection, type Erased, type EraseSelection } from '../../../domain/entry/selection'
import { noSuchEntry, unavailable } from '../../../domain/errors'
import { checkVersion, type HistoryTerms, restorableUntil } from '../../../domain/history/version'
import { MOST_DELETED } from '../../../domain/identity/audit'
import type { Caller } from '../../../domain/identity/scope'
import { mostSimilarName } from '../../../domain/name-similarity'
import { note } from '../../../domain/receipts/notes'
import type { Millis } from '../../../domain/time'
import type { EntryStore } from '../../../ports/entry-store'

/** Threads whose names are compared with an unknown one: the last used. */
const MOST_COMPARED = 200
/** Unknown threads that one answer names. */
const MOST_NAMED = 5

/** Fresh reads after a lost race. */
const TRIES = 5

/** What a delete took. */
export interface Deleted {
  readonly count: number
  /** Until when it can be taken back, milliseconds since 1970; null when it cannot. */
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
  /** Why a guard refused; nothing when it would not refuse now. @throws Problem not_found, conflict */
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

  /** Tries again after a refusal that can be mended: what is in the way is removed first. */
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
        if (attempt === TRIES) throw unavailable('The entry changes at this moment; nothing was deleted, try again')
      }
    }
  }

  /** What would go now; nothing is removed for it. @throws Problem as `delete` */
  const look = (caller: Caller, selection: DeleteSelection, erases = false) =>
    persist(caller, selection, false, () => entries.wouldDelete(caller, selection, erases))

  return {
    /**
     * Deletes what the caller may change; of many, the first `MOST_DELETED` by id.
     *
     * @throws Problem not_found or conflict when the one entry named is not there at that version; unavailable after five lost races
     */
    async delete(caller: Caller, selection: DeleteSelection): Promise<Deleted> {
      const until = restorableUntil(terms, now())
      note(caller, 'until', until)
      const count = await persist(caller, selection, false, () => entries.delete(caller, selection))
      return { count, until }
    },

    /** Deletes for good, with all that is kept of it. @throws Problem as `delete` */
    erase: (caller: Caller, selection: EraseSelection): Promise<Erased> =>
      persist(caller, selection, true, () => entries.erase(caller, selection)),

    look,

    /** For each thread that is unknown to the caller, a warning that names the nearest existing one. */
    async unknownThreads(caller: Caller, threadIds: readonly string[]): Promise<string[]> {
      if (threadIds.length === 0) return []
      const { threads } = await entries.threads(caller, { limit: MOST_COMPARED, offset: 0 })
      const names = threads.map(({ threadId }) => threadId)
      const unknown = threadIds.filter((name) => !names.includes(name)).slice(0, MOST_NAMED)
      return unknown.map((name) => {
        const nearest = mostSimilarName(name, names)
        const meant =
          nearest === null ? '' : `; the nearest existing thread is ${JSON.stringify(nearest.slice(0, 100))}`
        return `Nothing was deleted: nothing of yours is in thread ${JSON.stringify(name.slice(0, 100))}${meant}`
      })
    },

    /** How many are left for the same call, which has taken so many. */
    async remaining(caller: Caller, selection: DeleteSelection, taken: number, erases: boolean): Promise<number> {
      return taken < MOST_DELETED ? 0 : (await look(caller, selection, erases)).count
    },
  }
}
