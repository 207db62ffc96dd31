import type { Scope } from '../../domain/identity/scope'
import { readableVector } from '../../domain/meaning/vector'
import { scheduler } from '../../domain/scheduler'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'
import type { VectorRows } from '../../ports/vector-rows'
import type { Missed, Schedule } from './schedule'

/** Vectors told to an index in one step. */
const STEP = 500
/** Steps of one run; what is left is found by searches in the rows, and sent by the next run. */
const STEPS = 40

export type SyncVectors = ReturnType<typeof createSyncVectors>

/**
 * Brings an index up to the rows. A stored vector that cannot be read is left out, and made again. Safe to run twice, or in two places at
 * once.
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
  /** @returns whether the index has confirmed everything */
  return async (space: VectorSpace, steps = STEPS): Promise<boolean> => {
    for (let step = 0; step < steps; step++) {
      const changes = await rows.changesSince(space, await index.state(space), STEP)
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

/** What one isolate knows of a database: what searches still miss there since an upgrade; null before it has asked. */
export interface CatchUpState {
  missed: readonly Missed[] | null
  running: boolean
}

/** How many entries of a scope wait for vectors that are made behind all answers; null where vectors are made with the answers. */
type Waiting = ((scope: Scope) => Promise<number>) | null

const WARNINGS: Record<Missed, string> = {
  words: 'The search index is being rebuilt after an upgrade; search by words may miss older entries until then',
  vectors: 'Vectors are being rebuilt after an upgrade; search by meaning may miss older entries until then',
}

/**
 * After an upgrade, or a change of FTS_LANGUAGE, the schedule makes anew what searches go by. Requests help it along, so that a small
 * store is whole with the first answer and a large one after some hundred requests instead of hours; until then searches say so.
 */
export interface CatchUp {
  /** Before the first answer of an isolate: asks, and does a bounded part at once. Never fails. */
  begin(): Promise<void>
  /** Behind an answer: does a further part, while something is missed. Never fails. */
  further(): Promise<void>
  readonly missed: () => readonly Missed[]
  /** Warnings for a search that goes by these; a round trip only while vectors are made behind all answers. */
  warnings(scope: Scope, goesBy: readonly Missed[]): Promise<readonly string[]>
}

/** For a search by meaning while some entries have no vectors of the model. */
const waitingFor = (n: number): string =>
  n === 1
    ? '1 entry has no vectors of the configured model yet; until then search finds it by words only'
    : `${n} entries have no vectors of the configured model yet; until then search finds them by words only`

/** @param waiting null where missing vectors are not counted */
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
      // The schedule goes on by itself, and tells the log what is wrong.
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
    async warnings(scope, goesBy) {
      const asked = missed().filter((what) => goesBy.includes(what))
      const told = await Promise.all(
        asked.map(async (what) => {
          if (what !== 'vectors' || waiting === null) return WARNINGS[what]
          const n = await waiting(scope).catch(() => 0)
          return n > 0 ? waitingFor(n) : null
        }),
      )
      return told.filter((warning) => warning !== null)
    },
  }
}
