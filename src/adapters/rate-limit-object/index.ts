import type { Limiter, Limits } from '../../ports/limiter'
import type { GateObject } from './object'

/** Cloudflare's rate limit, if a deployment has bound one; wrangler.toml configures it. */
export interface RateLimitBinding {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

interface Parts {
  readonly gates: DurableObjectNamespace<GateObject>
  readonly rateLimit: RateLimitBinding | null
  readonly limits: Limits
  readonly onFailure: (error: unknown) => void
}

const ADMITTED = { admitted: true, leave: async () => {} } as const

/** The binding counts one message at a time. */
async function admitsAll(rateLimit: RateLimitBinding, key: string, messages: number): Promise<boolean> {
  const verdicts = await Promise.all(Array.from({ length: messages }, () => rateLimit.limit({ key })))
  return verdicts.every(({ success }) => success)
}

/**
 * Creates a limiter with one object for each key. With a rate-limit binding, the object counts only concurrent requests.
 */
export function createGateLimiter({ gates, rateLimit, limits, onFailure }: Parts): Limiter {
  const counted: Limits = rateLimit === null ? limits : { ...limits, perMinute: null }
  return {
    async enter(key, { messages = 1, perMinute, atMostPerMinute = null } = {}) {
      const usual = perMinute === undefined ? counted : { ...counted, perMinute }
      const bounds =
        atMostPerMinute === null
          ? usual
          : { ...usual, perMinute: Math.min(atMostPerMinute, usual.perMinute ?? atMostPerMinute) }
      try {
        if (rateLimit !== null && !(await admitsAll(rateLimit, key, messages)))
          return { admitted: false, exceeded: 'perMinute', retryAfter: 60 }
        if (bounds.perMinute === null && bounds.concurrent === null) return ADMITTED
        const gate = gates.getByName(key)
        const request = crypto.randomUUID()
        const verdict = await gate.enter(request, bounds, Date.now(), messages)
        if (verdict.exceeded !== null)
          return { admitted: false, exceeded: verdict.exceeded, retryAfter: verdict.retryAfter }
        return { admitted: true, leave: () => Promise.resolve(gate.leave(request)).catch(onFailure) }
      } catch (error) {
        onFailure(error)
        return ADMITTED
      }
    },
  }
}
