import type { HttpOptions } from './client'
import type { Patience } from './retry'

/** Whoever asks whether all is well wants to hear it now. */
export const QUICK_CHECK: Patience = { tries: 1, tryMs: 2000, totalMs: 2000 }

/** An answer is good for this long: /ready may be asked by anybody, and a provider shall not be asked for each of them. */
const GOOD_FOR_MS = 5000

interface Seen {
  readonly at: number
  readonly problem: unknown
}

/** By provider and model, so as many as are configured. Only settled answers: a promise belongs to the request that made it. */
const seen = new Map<string, Seen>()

/**
 * @param key names what is asked
 * @param ask throws what is wrong
 * @returns a ping that repeats what the last one found, for a while
 */
export const remembered =
  (key: string, ask: () => Promise<unknown>, { now = Date.now }: Pick<HttpOptions, 'now'> = {}) =>
  async (): Promise<void> => {
    const last = seen.get(key)
    const fresh = last !== undefined && now() - last.at < GOOD_FOR_MS
    const problem = fresh
      ? last.problem
      : await ask().then(
          () => null,
          (error: unknown) => error,
        )
    if (!fresh) seen.set(key, { at: now(), problem })
    if (problem !== null) throw problem
  }
