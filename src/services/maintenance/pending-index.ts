// A search finishes pending index entries itself. Writers write words and vectors right after their commit; if a writer died in
// between, or its model failed, the next search makes up for it.

import type { Scope } from '../../domain/identity/scope'
import type { Millis } from '../../domain/time'
import type { FullText } from '../../ports/full-text'
import { PENDING_AT_ONCE, type PendingEntry, type PendingIndex } from '../../ports/retention'
import type { BackgroundGeneration } from './background-generation'
import type { Missed } from './schedule'

/** State of one database in one isolate. */
export interface PendingState {
  /** Time when this isolate first used the database. Work that this process queued or leased earlier is abandoned. */
  readonly since: number
  /** Time before which a search does not call a failed model again. */
  embedsAgainAt: Millis
}

/** Bytes of entries whose words one search writes: as much as one restoration. */
const WORDS = 4_000_000
/** Time that a failed model is not called. */
const MODEL_RESTS_MS = 30_000

const WARNINGS: Record<Missed, string> = {
  words: 'Some entries are not in the search index yet; search by words may miss them until then',
  vectors: 'Some entries have no vectors yet; search by meaning may miss them until then',
}
const TOPICS = { words: 'index', vectors: 'embed' } as const

export interface FinishIndex {
  /**
   * Runs a search.
   *
   * If words or vectors that it needs are pending, a bounded part of them is written first and the search runs again. The check
   * usually needs no round trip of its own.
   *
   * @param search starts with a database read and writes nothing
   * @param indexes indexes that the search needs: a search by words does not wait for a model
   */
  searching<T>(scope: Scope, search: () => Promise<T>, indexes?: readonly Missed[]): Promise<T>
  /** Returns a number that changes after each write, which makes earlier index answers outdated. */
  readonly round: () => number
  /** Returns warnings of the last check for a search that uses these indexes. */
  warnings(indexes: readonly Missed[]): readonly string[]
}

/** For services without pending work. */
export const NOTHING_PENDING: FinishIndex = { searching: (_, search) => search(), round: () => 0, warnings: () => [] }

/** Returns the first entries that together have at most this many bytes. */
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
  /** Null without semantic search. */
  readonly generation:
    | (Pick<BackgroundGeneration, 'embedInTime'> & Partial<Pick<BackgroundGeneration, 'capacity'>>)
    | null
  /** Bytes of texts whose vectors one search computes. */
  readonly vectorBytes: number
  readonly state: PendingState
  readonly now: () => Millis
}): FinishIndex {
  const { pending, generation, vectorBytes, state, now } = dependencies
  let behind: readonly Missed[] = []
  let rounds = 0
  /** Work of this request, so that two retrievers of a search share it. */
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

  /** Returns null if the state is unknown; then the search cannot be answered either. */
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

  /** Reports whether anything new was written. */
  async function finish(scope: Scope, entries: readonly PendingEntry[], indexes: readonly Missed[]): Promise<boolean> {
    let wrote = false
    for (const what of indexes) if (await writeOnce(scope, what, entries)) wrote = true
    return wrote
  }

  return {
    async searching(scope, search, indexes = ['words', 'vectors']) {
      // The check starts first, so that it does not see a later state than the search.
      const looked = look(scope)
      const found = search()
      const [pendingEntries] = await Promise.all([looked, found.catch(() => {})])
      if (!pendingEntries?.length || !(await finish(scope, pendingEntries, indexes))) return found
      const [, again] = await Promise.all([look(scope), search()])
      return again
    },
    round: () => rounds,
    warnings: (indexes) => behind.flatMap((what) => (indexes.includes(what) ? [WARNINGS[what]] : [])),
  }
}

/**
 * Wraps full-text search so that it finds everything committed.
 *
 * @param indexes indexes to wait for: words, and also vectors if they are computed locally
 */
export const searchUpToDate = (fullText: FullText, finishing: FinishIndex, indexes: readonly Missed[]): FullText => {
  const { engine, language, stemming } = fullText
  return {
    ...{ engine, language, stemming },
    search: (scope, request) => finishing.searching(scope, () => fullText.search(scope, request), indexes),
    searchByUnits: (scope, request) =>
      finishing.searching(scope, () => fullText.searchByUnits(scope, request), indexes),
    searchByRareWords: (scope, request) =>
      finishing.searching(scope, () => fullText.searchByRareWords(scope, request), indexes),
    // Reads only entries that were found already.
    entryTexts: (scope, asked, ids) => fullText.entryTexts(scope, asked, ids),
  }
}
