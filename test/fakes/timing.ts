import type { Timing } from '../../src/adapters/http-json/retry'

/** A clock that moves only when someone sleeps, and chance that is always the same. */
export interface TestTiming extends Timing {
  /** Milliseconds of each sleep so far. */
  readonly sleeps: readonly number[]
}

export function createTestTiming(random = 1): TestTiming {
  const sleeps: number[] = []
  let clock = 1_800_000_000_000
  return {
    sleeps,
    now: () => clock,
    sleep: async (ms) => {
      sleeps.push(ms)
      clock += ms
    },
    random: () => random,
  }
}
