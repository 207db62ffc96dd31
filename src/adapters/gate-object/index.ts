import type { Limiter, Limits } from '../../ports/limiter'
import type { GateObject } from './object'

/** Cloudflare's own rate limit, where a deployment has bound one; its numbers stand in wrangler.toml. */
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

/** One gate object a key; with a rate-limit binding, that counts the minute and the object only what runs at once. */
export function createGateLimiter({ gates, rateLimit, limits, onFailure }: Parts): Limiter {
  const counted: Limits = rateLimit === null ? limits : { ...limits, perMinute: null }
  return {
    async enter(key) {
      try {
        if (rateLimit !== null && !(await rateLimit.limit({ key })).success)
          return { admitted: false, exceeded: 'perMinute', retryAfter: 60 }
        if (counted.perMinute === null && counted.concurrent === null) return ADMITTED
        const gate = gates.getByName(key)
        const request = crypto.randomUUID()
        const verdict = await gate.enter(request, counted)
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
