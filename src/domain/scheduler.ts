/**
 * Cooperative scheduling of long work. A Worker serves all requests in one thread, so long work is written as steps,
 * and other requests run between them (platform contract §6). Work is measured in characters read, because the clock of
 * a Worker only advances during I/O.
 */

/** Work in steps. Yields the number of UTF-16 units read since the last yield, about `STEP`, and returns its result. */
export type Steps<T> = Generator<number, T, void>

/** Characters that a step reads before it yields. */
export const STEP = 4_096

/** Characters read between two pauses: 10 to 30 ms of work. */
export const SLICE = 48_000

/** Characters of JSON parsed or written in the time in which the analyzer reads one character. */
export const JSON_UNITS = 8

/** Bytes of an export volume processed in the time in which the analyzer reads one character. */
export const VOLUME_UNITS = 4

export interface Scheduler {
  /** Counts work in characters, and pauses after every `SLICE` of them. */
  tick(cost: number): Promise<void>
  /** Pauses now, between two long round trips: a database in the same process blocks the thread. */
  yield(): Promise<void>
  /** Runs all steps, with pauses between them. */
  run<T>(steps: Steps<T>): Promise<T>
}

/** Length of a pause in milliseconds. After a timer of 0 ms, the next step often runs before a waiting request. */
const PAUSE_MS = 1

const pauseByTimer = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

/**
 * Creates a scheduler.
 * @param pause lets other requests run; it must wait for an external event such as a timer, because a resolved promise
 * lets no other request run
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

/** The scheduler of this isolate. Its only state is a counter shared by all requests. */
export const scheduler: Scheduler = {
  tick: (cost) => current.tick(cost),
  yield: () => current.yield(),
  run: (steps) => current.run(steps),
}

/**
 * Replaces the scheduler of this isolate, for tests.
 * @returns a function that restores the previous one
 */
export function replaceScheduler(replacement: Scheduler): () => void {
  const before = current
  current = replacement
  return () => {
    current = before
  }
}

/** Runs all steps without a pause, for short texts. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
