/**
 * Cooperative scheduling of long work. A Worker serves all its requests in one thread, so long work is written as steps,
 * and the scheduler lets other requests run between them (platform contract §6). Work is counted in characters read,
 * because the clock of a Worker stands still until it waits for something.
 */

/** Work that yields the number of UTF-16 units read since its last yield, about `STEP` at a time, and returns its outcome. */
export type Steps<T> = Generator<number, T, void>

/** Characters that a step reads before it yields. */
export const STEP = 4_096

/** Characters read between two pauses: 10 to 30 ms of work. */
export const SLICE = 48_000

/** Characters of JSON parsed, written or measured in the time in which the analyzer reads one character. */
export const JSON_UNITS = 8

/** Bytes of a volume written or read, hashed and compressed in the time in which the analyzer reads one character. */
export const VOLUME_UNITS = 4

export interface Scheduler {
  /** Counts work in characters read, and pauses after every `SLICE` of them. */
  tick(cost: number): Promise<void>
  /** Pauses now: between two long round trips, since a database in the same process blocks the thread. */
  yield(): Promise<void>
  /** Runs steps to their end, with pauses in between. */
  run<T>(steps: Steps<T>): Promise<T>
}

/**
 * A pause in milliseconds. It must be a timer that is not due at once: after a timer of 0 ms, the next piece of work often
 * begins before a waiting request.
 */
const PAUSE_MS = 1

const pauseByTimer = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

/**
 * @param pause lets other requests run; it must wait for something from outside, such as a timer: a resolved promise lets
 *   none run
 */
export function createScheduler(pause: () => Promise<void> = pauseByTimer): Scheduler {
  let spent = 0
  const pauseNow = async (): Promise<void> => {
    spent = 0
    await pause()
  }
  const tick = async (cost: number): Promise<void> => {
    spent += cost
    if (spent >= SLICE) await pauseNow()
  }
  return {
    tick,
    yield: pauseNow,
    async run(steps) {
      for (;;) {
        const { done, value } = steps.next()
        if (done) return value
        await tick(value)
      }
    },
  }
}

let current = createScheduler()

/** The scheduler of this isolate. Its only state is a counter, which all requests share. */
export const scheduler: Scheduler = {
  tick: (cost) => current.tick(cost),
  yield: () => current.yield(),
  run: (steps) => current.run(steps),
}

/**
 * Replaces the scheduler of this isolate, for tests.
 *
 * @returns restores the one before
 */
export function replaceScheduler(replacement: Scheduler): () => void {
  const before = current
  current = replacement
  return () => {
    current = before
  }
}

/** Runs all steps at once, where a text is known to be short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
