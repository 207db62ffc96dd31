import type { Millis } from '../domain/time'

/** How far a step of the schedule has come. */
export interface StepState {
  /** Where its next round begins; null at the start. */
  readonly cursor: string | null
  /** When it last came to its end, milliseconds since 1970. */
  readonly finishedAt: Millis | null
  /** How often it failed since it last succeeded. */
  readonly failures: number
  readonly lastError: string | null
}

/** Where the schedule remembers its steps from run to run. */
export interface ScheduleJournal {
  /** Of all steps that were ever written. */
  read(): Promise<ReadonlyMap<string, StepState>>
  write(step: string, state: StepState): Promise<void>
}
