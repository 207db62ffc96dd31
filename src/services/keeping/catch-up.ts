import type { Scope } from '../../domain/identity/scope'
import type { Missed, Schedule } from './schedule'

/** What one isolate knows of a database: what searches still miss there since an upgrade; null before it has asked. */
export interface CatchUpState {
  missed: readonly Missed[] | null
  running: boolean
}

/** How many entries of a scope wait for vectors that are made behind all answers; null where vectors are made with the answers. */
type Waiting = ((scope: Scope) => Promise<number>) | null

const WARNINGS: Record<Missed, string> = {
  words:
    'The search index is being rewritten after an upgrade; words of older entries may be missed until that is done',
  vectors: 'Vectors are being made anew after an upgrade; older entries may be missed by meaning until that is done',
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
    ? '1 entry waits for its vectors of the configured model; until then it is found by its words only'
    : `${n} entries wait for their vectors of the configured model; until then they are found by their words only`

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
