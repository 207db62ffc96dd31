import type { HttpOptions } from './client'
import type { Patience } from './retry'

/** Timeouts of a health check: one short try. */
export const QUICK_CHECK: Patience = { tries: 1, tryMs: 2000, totalMs: 2000 }

/** Lifetime of a result: anyone may request /ready, which must not cause a request to the provider each time. */
const GOOD_FOR_MS = 5000

interface Seen {
  readonly at: number
  readonly problem: unknown
}

/** Last results, by provider and model. Only results, no promises: a promise belongs to the request that created it. */
const seen = new Map<string, Seen>()

/**
 * Caches the result of a health check for a short time.
 *
 * @param key identifies the checked service
 * @param ask throws when the service is unhealthy
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
