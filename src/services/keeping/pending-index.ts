// How does a search find what is committed while its words or vectors are still to be written? Their writer does that right behind
// its commit, before it answers; when it died in between, or was not answered itself by a model, the next search does it.

import type { Scope } from '../../domain/identity/scope'
import type { Millis } from '../../domain/time'
import type { FullText } from '../../ports/full-text'
import { PENDING_AT_ONCE, type PendingEntry, type PendingIndex } from '../../ports/retention'
import type { BackgroundGeneration } from './background-generation'
import type { Missed } from './schedule'

/** What one isolate knows of a database. */
export interface PendingState {
  /** When this isolate met it: whoever queued or claimed something before that, in the same process, is gone. */
  readonly since: number
  /** Before that a model that failed is not asked again for the sake of a search. */
  embedsAgainAt: Millis
}

/** Bytes of entries whose words one search writes: as much as one restoration brings back. */
const WORDS = 4_000_000
/** A model that failed is left alone for so long. */
const MODEL_RESTS_MS = 30_000

const WARNINGS: Record<Missed, string> = {
  words: 'Words of some entries are still being written to the search index; these may be missed until that is done',
  vectors: 'Vectors of some entries are still to be made; these may be missed by meaning until that is done',
}
const TOPICS = { words: 'index', vectors: 'embed' } as const

export interface FinishIndex {
  /**
   * Runs a search. Where words or vectors that it could go by turn out to be unwritten, they are written first, a bounded part of
   * them, and the search is run again; as a rule there are none, and to find that out costs no round trip of its own.
   *
   * @param search begins with a read of the database, in the moment in which it is called; it writes nothing
   * @param goesBy of which it waits for nothing else: a search for words does not wait for a model
   */
  searching<T>(scope: Scope, search: () => Promise<T>, goesBy?: readonly Missed[]): Promise<T>
  /** Another number after something was written: what was asked of an index before that is out of date. */
  readonly round: () => number
  /** What to tell of a search that goes by these, as the last look found it. */
  warnings(goesBy: readonly Missed[]): readonly string[]
}

/** For what has nothing to be finished. */
export const NOTHING_PENDING: FinishIndex = { searching: (_, search) => search(), round: () => 0, warnings: () => [] }

/** Those of them that hold no more bytes together. */
function within(entries: readonly PendingEntry[], most: number): PendingEntry[] {
  let left = most
  return entries.filter(({ bytes }) => {
    if (bytes > left) return false
    left -= bytes
    return true
  })
}

export function createFinishIndex(dependencies: {
  readonly pending: PendingIndex
  /** Null where nothing is searched by meaning. */
  readonly generation:
    | (Pick<BackgroundGeneration, 'embedInTime'> & Partial<Pick<BackgroundGeneration, 'capacity'>>)
    | null
  /** Bytes of texts whose vectors one search has made. */
  readonly vectorBytes: number
  readonly state: PendingState
  readonly now: () => Millis
}): FinishIndex {
  const { pending, generation, vectorBytes, state, now } = dependencies
  let behind: readonly Missed[] = []
  let rounds = 0
  /** Of this request: what two legs of a search find is done once. */
  const running = new Map<string, Promise<boolean>>()

  async function writeWords(org: string, entries: readonly PendingEntry[]): Promise<boolean> {
    const ids = within(entries, WORDS).map(({ id }) => id)
    return ids.length > 0 && (await pending.writeWords(org, ids))
  }

  async function makeVectors(entries: readonly PendingEntry[]): Promise<boolean> {
    if (generation === null || now() < state.embedsAgainAt) return false
    const ids = within(entries, Math.min(vectorBytes, generation.capacity?.() ?? vectorBytes)).map(({ id }) => id)
    if (ids.length === 0) return false
    try {
      const { made, problem } = await generation.embedInTime(ids)
      if (problem !== null) rest()
      return made > 0
    } catch {
      rest()
      return false
    }
  }

  const rest = (): void => {
    state.embedsAgainAt = now() + MODEL_RESTS_MS
  }

  async function write(org: string, what: Missed, entries: readonly PendingEntry[]): Promise<boolean> {
    const left = entries.filter(({ topic, abandoned }) => abandoned && topic === TOPICS[what])
    const wrote = what === 'words' ? await writeWords(org, left) : await makeVectors(left)
    if (wrote) rounds++
    return wrote
  }

  /** Null when it cannot be known; then the search cannot be answered either. */
  async function look(scope: Scope): Promise<readonly PendingEntry[] | null> {
    try {
      const found = await pending.pending(scope, state.since)
      const missed = (what: Missed): boolean =>
        (what === 'words' || generation !== null) &&
        (found.length >= PENDING_AT_ONCE || found.some(({ topic }) => topic === TOPICS[what]))
      behind = (['words', 'vectors'] as const).filter(missed)
      return found
    } catch {
      return null
    }
  }

  function writeOnce(scope: Scope, what: Missed, entries: readonly PendingEntry[]): Promise<boolean> {
    const key = JSON.stringify([what, scope.org, scope.projects, scope.owner])
    const begun = running.get(key) ?? write(scope.org, what, entries).finally(() => running.delete(key))
    running.set(key, begun)
    return begun
  }

  /** Whether anything was written that was not there. */
  async function finish(scope: Scope, entries: readonly PendingEntry[], goesBy: readonly Missed[]): Promise<boolean> {
    let wrote = false
    for (const what of goesBy) if (await writeOnce(scope, what, entries)) wrote = true
    return wrote
  }

  return {
    async searching(scope, search, goesBy = ['words', 'vectors']) {
      // The look comes first, so that it knows no later state than the search.
      const looked = look(scope)
      const found = search()
      const [pendingEntries] = await Promise.all([looked, found.catch(() => {})])
      if (!pendingEntries?.length || !(await finish(scope, pendingEntries, goesBy))) return found
      const [, again] = await Promise.all([look(scope), search()])
      return again
    },
    round: () => rounds,
    warnings: (goesBy) => behind.flatMap((what) => (goesBy.includes(what) ? [WARNINGS[what]] : [])),
  }
}

/**
 * A search for words that finds what is committed.
 *
 * @param goesBy what it waits for: words, and vectors too where they are made here, without any service
 */
export const searchUpToDate = (fullText: FullText, finishing: FinishIndex, goesBy: readonly Missed[]): FullText => {
  const { engine, language, stemming } = fullText
  return {
    ...{ engine, language, stemming },
    search: (scope, request) => finishing.searching(scope, () => fullText.search(scope, request), goesBy),
    searchByUnits: (scope, request) => finishing.searching(scope, () => fullText.searchByUnits(scope, request), goesBy),
    searchByRareWords: (scope, request) =>
      finishing.searching(scope, () => fullText.searchByRareWords(scope, request), goesBy),
    // It only reads on of what was found.
    entryTexts: (scope, asked, ids) => fullText.entryTexts(scope, asked, ids),
  }
}
