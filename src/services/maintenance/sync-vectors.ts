import type { Scope } from '../../domain/identity/scope'
import { readableVector } from '../../domain/meaning/vector'
import { scheduler } from '../../domain/scheduler'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'
import type { VectorRows } from '../../ports/vector-rows'
import type { Missed, Schedule } from './schedule'

/** Vectors that one step sends to an index. */
const STEP = 500
/** Steps of one run. Searches compare the remaining rows themselves, and the next run sends them. */
const STEPS = 40

export type SyncVectors = ReturnType<typeof createSyncVectors>

/**
 * Sends changed vectors to an index.
 *
 * An unreadable stored vector is skipped and computed again. Safe to run twice or concurrently.
 */
export function createSyncVectors({
  index,
  rows,
  log = () => {},
}: {
  readonly index: VectorIndex
  readonly rows: VectorRows
  readonly log?: (event: string, fields: Record<string, unknown>) => void
}) {
  /** Syncs an organization. @returns whether the index has confirmed everything */
  return async (space: VectorSpace, steps = STEPS): Promise<boolean> => {
    for (let step = 0; step < steps; step++) {
      const { isFull = false, ...since } = await index.state(space)
      const changes = isFull ? null : await rows.changesSince(space, since, STEP)
      if (changes === null) return index.settle(space)
      const unreadable = changes.added.filter(({ data }) => readableVector(data) === null)
      if (unreadable.length > 0) {
        log('unreadable_vectors', { org: space.org, model: space.model, count: unreadable.length })
        await rows.rebuild(unreadable.map(({ id }) => id))
      }
      const added = changes.added.filter((one) => !unreadable.includes(one))
      await index.apply(space, { ...changes, added })
      await scheduler.yield()
      if (changes.added.length < STEP && changes.removed.length < STEP) return index.settle(space)
    }
    return false
  }
}

/** Upgrade state of one database in one isolate; null before the first check. */
export interface CatchUpState {
  missed: readonly Missed[] | null
  running: boolean
}

/** Counts entries of a scope whose vectors are computed after answers; null if they are computed with the answers. */
type Waiting = ((scope: Scope) => Promise<number>) | null

const WARNINGS: Record<Missed, string> = {
  words: 'The search index is being rebuilt after an upgrade; search by words may miss older entries until then',
  vectors: 'Vectors are being rebuilt after an upgrade; search by meaning may miss older entries until then',
}

/**
 * Rebuilds search indexes after an upgrade or a change of FTS_LANGUAGE.
 *
 * Requests help the schedule, so that a small store is complete with the first answer, and a large one after some hundred
 * requests. Until then searches warn.
 */
export interface CatchUp {
  /** Checks the state before the first answer of an isolate, and does bounded work. Never fails. */
  begin(): Promise<void>
  /** Continues after an answer while an index is incomplete. Never fails. */
  further(): Promise<void>
  readonly missed: () => readonly Missed[]
  /** Returns warnings for a search that uses these indexes. Takes a round trip only while vectors are computed after answers. */
  warnings(scope: Scope, indexes: readonly Missed[]): Promise<readonly string[]>
}

/** Returns the warning for a search by meaning while some entries have no vectors of the model. */
const waitingFor = (n: number): string =>
  n === 1
    ? '1 entry has no vectors of the configured model yet; until then search finds it by words only'
    : `${n} entries have no vectors of the configured model yet; until then search finds them by words only`

/** Creates the service. @param waiting null if missing vectors are not counted */
export function createCatchUp(
  schedule: Pick<Schedule, 'catchUp'>,
  state: CatchUpState,
  waiting: Waiting = null,
): CatchUp {
  async function further(): Promise<void> {
    if (state.running || state.missed?.length === 0) return
    state.running = true
    try {
      state.missed = await schedule.catchUp()
    } catch {
      // The schedule continues on its own and logs the error.
      state.missed = []
    } finally {
      state.running = false
    }
  }
  const missed = () => state.missed ?? []
  return {
    begin: async () => (state.missed === null ? further() : undefined),
    further,
    missed,
    async warnings(scope, indexes) {
      const asked = missed().filter((what) => indexes.includes(what))
      const warned = await Promise.all(
        asked.map(async (what) => {
          if (what !== 'vectors' || waiting === null) return WARNINGS[what]
          const n = await waiting(scope).catch(() => 0)
          return n > 0 ? waitingFor(n) : null
        }),
      )
      return warned.filter((warning) => warning !== null)
    },
  }
}
