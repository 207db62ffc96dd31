import type { Millis } from './time'

/**
 * Long work in small pieces. Whoever reads a megabyte at once keeps everybody else waiting, so such work is written as
 * steps, and a yielder takes a rest between them (platform contract §6). Work is counted in characters read, because the clock
 * of a Worker stands still until it waits for something.
 */

/** Yields how many UTF-16 units have been read since it last did, about `STEP` at a time; returns the outcome. */
export type Steps<T> = Generator<number, T, void>

/** What a step reads before it yields. */
export const STEP = 4_096

/** What is read between two rests: 10 to 30 ms of work. */
export const SLICE = 48_000

/** Characters of JSON that are parsed, written or measured in the time in which one is analysed: a yielder counts the latter. */
export const JSON_UNITS = 8

/** Bytes of a volume that are written or read, hashed and compressed in the time in which one character is analysed. */
export const VOLUME_UNITS = 4

export interface Yielder {
  /** Notes that so much was read; takes a rest when it is enough since the last one. */
  spend(units: number): Promise<void>
  /** Takes a rest now: between two round trips that each take long, since a database in the same process lets nobody in. */
  rest(): Promise<void>
  /** Takes steps to their end, with rests in between. */
  run<T>(steps: Steps<T>): Promise<T>
}

/**
 * @param rest lets others have their turn; it must wait for something from outside, such as a timer: a promise that is
 *   already resolved lets nobody in
 */
export function createYielder(rest: () => Promise<void>, slice = SLICE): Yielder {
  let spent = 0
  const restNow = async (): Promise<void> => {
    spent = 0
    await rest()
  }
  const spend = async (units: number): Promise<void> => {
    spent += units
    if (spent >= slice) await restNow()
  }
  return {
    spend,
    rest: restNow,
    async run(steps) {
      for (;;) {
        const { done, value } = steps.next()
        if (done) return value
        await spend(value)
      }
    },
  }
}

/**
 * What a rest waits, in milliseconds: a timer that is not due at once. After one of 0 ms every second request found the next piece of work
 * begun (bench/records/hostile-text.md).
 */
const REST_MS = 1

/** @param sleep waits so many milliseconds for a timer */
export const createRestingYielder = (sleep: (ms: Millis) => Promise<void>): Yielder =>
  createYielder(() => sleep(REST_MS))

/** Never rests: for work that nobody waits beside, such as a command line and a test. */
export const WITHOUT_REST: Yielder = createYielder(async () => {}, Number.POSITIVE_INFINITY)

/** Takes all steps at once, where a text is known to be short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
