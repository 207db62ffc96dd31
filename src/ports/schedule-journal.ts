import type { Millis } from '../domain/time'

/** Progress of a step of the schedule. */
export interface StepState {
  /** Cursor of its next batch; null at the start. */
  readonly cursor: string | null
  /** When it last completed, milliseconds since 1970. */
  readonly finishedAt: Millis | null
  /** Number of failures since it last succeeded. */
  readonly failures: number
  readonly lastError: string | null
}

/** Stores the progress of the schedule's steps between runs. */
export interface ScheduleJournal {
  /** Returns all steps that were ever recorded. */
  read(): Promise<ReadonlyMap<string, StepState>>
  write(step: string, state: StepState): Promise<void>
}
