import { onTestFinished } from 'vitest'
import { createScheduler, replaceScheduler, type Scheduler } from '../../src/domain/scheduler'

/** Uses another scheduler until the test ends. */
export const useScheduler = (scheduler: Scheduler): void => onTestFinished(replaceScheduler(scheduler))

/** Calls `noted` for each pause of the scheduler until the test ends, in place of waiting. */
export const notePauses = (noted: () => void): void => useScheduler(createScheduler(async () => noted()))
