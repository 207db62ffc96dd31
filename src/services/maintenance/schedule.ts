import { scheduler } from '../../domain/scheduler'
import { DAY_MS, type Millis } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { ScheduleJournal, StepState } from '../../ports/retention'

/** What a round of a step did. */
export interface StepResult {
  /** How many things it did, for the log; a round that did none is not told. */
  readonly done: number
  /** Where the next round begins; null when the step has come to its end. */
  readonly next: string | null
}

/** What searches do without until a step has come to its end. */
export type Missed = 'words' | 'vectors'

/** One thing that the schedule does. A round does a bounded part of it and may be repeated: its cursor is kept after it. */
export interface Step {
  readonly name: string
  /** Begun again when so much time has passed since its last end; 0 for every run. */
  readonly every: number
  /** Begun again in the first run of each UTC day, whatever the hour of its last end. */
  readonly daily?: true
  /** Rounds of one run at most; the next run goes on. */
  readonly rounds: number
  /** What searches miss until it has come to its end for the first time: requests take it further too, see `catchUp`. */
  readonly missed?: Missed
  /** Requests do not take it further: it is slow, and the process that runs the server repeats the schedule until it has ended. */
  readonly behind?: true
  /** @param cursor what the round before it answered; null at the start */
  readonly round: (cursor: string | null) => Promise<StepResult>
}

export interface Schedule {
  /**
   * Does every step that is due, in order. A step that fails is told to the log and the journal and stops no other.
   *
   * @param more steps of whoever runs it, after its own
   * @throws when the journal cannot be read; then nothing was done
   */
  run(more?: readonly Step[]): Promise<void>
  /**
   * Takes what searches miss half a run further: the first step that has not come to its end.
   *
   * @returns what is still missed
   * @throws when the journal cannot be read, or the step failed
   */
  catchUp(): Promise<readonly Missed[]>
  /** Lets the steps that make up for this begin again: the next run finds what is missing. */
  beginAgain(missed: Missed): Promise<void>
}

const FRESH: StepState = { cursor: null, finishedAt: null, failures: 0, lastError: null }

export function createSchedule(dependencies: {
  readonly steps: readonly Step[]
  readonly journal: ScheduleJournal
  readonly clock: Clock
  readonly log: (event: string, fields: Record<string, unknown>) => void
  /** Lets others have their turn between two rounds. */
}): Schedule {
  const { steps, journal, clock, log } = dependencies

  const day = (ms: Millis): number => Math.floor(ms / DAY_MS)
  const isDue = ({ every, daily }: Step, { cursor, finishedAt }: StepState): boolean =>
    cursor !== null ||
    finishedAt === null ||
    (daily ? day(clock.now()) !== day(finishedAt) : clock.now() - finishedAt >= every)

  /** Whether it came to its end. Nothing is written for a step that had nothing to do and does so in every run. */
  async function runStep(step: Step, state: StepState, rounds = step.rounds): Promise<boolean> {
    let { cursor } = state
    let done = 0
    for (let round = 0; round < rounds; round++) {
      const result = await step.round(cursor)
      done += result.done
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

  /** The cursor stays where the last good round left it, so the step goes on from there. */
  async function noteFailure(step: Step, error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error)
    log('schedule_step_failed', { step: step.name, message })
    const state = (await journal.read()).get(step.name) ?? FRESH
    await journal.write(step.name, { ...state, failures: state.failures + 1, lastError: message.slice(0, 500) })
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
          await noteFailure(step, error).catch((lost: unknown) =>
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
