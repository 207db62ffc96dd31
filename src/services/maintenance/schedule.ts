import { scheduler } from '../../domain/scheduler'
import { DAY_MS, type Millis } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { ScheduleJournal, StepState } from '../../ports/retention'

/** The result of one batch of a step. */
export interface StepResult {
  /** Number of processed items, for the log; a batch without any is not logged. */
  readonly done: number
  /** Cursor of the next batch; null if the step is complete. */
  readonly next: string | null
  /** Why a part of the work failed, if the next batch does another part. It counts as a failure of the step, and ends its run. */
  readonly problem?: string
}

/** An index that is incomplete until a step is complete. */
export type Missed = 'words' | 'vectors'

/** A step of the schedule. Each batch does bounded work and can be repeated; its cursor is stored afterwards. */
export interface Step {
  readonly name: string
  /** Time after its last end when the step starts again; 0 for every run. */
  readonly every: number
  /** Whether the step also starts in the first run of each UTC day. */
  readonly daily?: true
  /** Maximum batches of one run; the next run continues. */
  readonly rounds: number
  /** Index that searches miss until the step is complete for the first time; requests also continue such a step (`catchUp`). */
  readonly missed?: Missed
  /** Whether requests skip the step, because it is slow and the server process runs the schedule repeatedly. */
  readonly behind?: true
  /** Runs a batch. @param cursor of the batch before; null at the start */
  readonly round: (cursor: string | null) => Promise<StepResult>
}

export interface Schedule {
  /**
   * Runs every due step in order. A failed step is logged, recorded in the journal, and does not stop the others.
   *
   * @param more further steps, which run last
   * @throws if the journal cannot be read; then nothing was done
   */
  run(more?: readonly Step[]): Promise<void>
  /**
   * Runs half a run of the first incomplete step that searches depend on.
   *
   * @returns the indexes that are still incomplete
   * @throws if the journal cannot be read, or the step failed
   */
  catchUp(): Promise<readonly Missed[]>
  /** Restarts the steps for an index; the next run finds what is missing. */
  beginAgain(missed: Missed): Promise<void>
}

const FRESH: StepState = { cursor: null, finishedAt: null, failures: 0, lastError: null }

export function createSchedule(dependencies: {
  readonly steps: readonly Step[]
  readonly journal: ScheduleJournal
  readonly clock: Clock
  readonly log: (event: string, fields: Record<string, unknown>) => void
}): Schedule {
  const { steps, journal, clock, log } = dependencies

  const day = (ms: Millis): number => Math.floor(ms / DAY_MS)
  const isDue = ({ every, daily }: Step, { cursor, finishedAt }: StepState): boolean =>
    cursor !== null ||
    finishedAt === null ||
    (daily ? day(clock.now()) !== day(finishedAt) : clock.now() - finishedAt >= every)

  /**
   * Runs a step.
   *
   * Writes nothing for a step that runs every time and has nothing to do.
   *
   * @returns whether it is complete
   */
  async function runStep(step: Step, state: StepState, rounds = step.rounds): Promise<boolean> {
    let { cursor } = state
    let done = 0
    for (let round = 0; round < rounds; round++) {
      const result = await step.round(cursor)
      done += result.done
      if (result.problem !== undefined) {
        await noteFailure(step, result.problem, result.next)
        cursor = result.next
        break
      }
      const ended = result.next === null
      if (!ended || cursor !== null || step.every > 0 || state.failures > 0)
        await journal.write(step.name, {
          ...FRESH,
          cursor: result.next,
          finishedAt: ended ? clock.now() : state.finishedAt,
        })
      cursor = result.next
      if (ended) break
      await scheduler.yield()
    }
    if (done > 0) log('schedule_step', { step: step.name, done, ended: cursor === null })
    return cursor === null
  }

  /** Records a failure. @param next the cursor to continue with; absent for that of the last successful batch */
  async function noteFailure({ name }: Step, message: string, next?: string | null): Promise<void> {
    log('schedule_step_failed', { step: name, message })
    const state = (await journal.read()).get(name) ?? FRESH
    const cursor = next === undefined ? state.cursor : next
    await journal.write(name, { ...state, cursor, failures: state.failures + 1, lastError: message.slice(0, 500) })
  }

  return {
    async run(more = []) {
      const states = await journal.read()
      for (const step of [...steps, ...more]) {
        const state = states.get(step.name) ?? FRESH
        if (!isDue(step, state)) continue
        try {
          await runStep(step, state)
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error)
          await noteFailure(step, message).catch((lost: unknown) =>
            log('schedule_journal_failed', { step: step.name, message: String(lost) }),
          )
        }
      }
    },

    async catchUp() {
      const states = await journal.read()
      const missed: Missed[] = []
      for (const step of steps) {
        const state = states.get(step.name) ?? FRESH
        if (step.missed === undefined || (step.every > 0 && state.finishedAt !== null)) continue
        if (missed.length > 0 || step.behind || !(await runStep(step, state, Math.ceil(step.rounds / 2))))
          missed.push(step.missed)
      }
      return missed
    },

    async beginAgain(missed) {
      for (const step of steps) if (step.missed === missed) await journal.write(step.name, FRESH)
    },
  }
}
