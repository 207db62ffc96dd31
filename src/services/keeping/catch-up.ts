import type { Missed, Schedule } from './schedule'

/** What one isolate knows of a database: what searches still miss there since an upgrade; null before it has asked. */
export interface CatchUpState {
  missed: readonly Missed[] | null
  running: boolean
}

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
  /** What to tell of a search that goes by these. */
  warnings(goesBy: readonly Missed[]): readonly string[]
}

export function createCatchUp(schedule: Pick<Schedule, 'catchUp'>, state: CatchUpState): CatchUp {
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
    warnings: (goesBy) => missed().flatMap((what) => (goesBy.includes(what) ? [WARNINGS[what]] : [])),
  }
}
