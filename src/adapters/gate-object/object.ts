import { DurableObject } from 'cloudflare:workers'
import type { Limits } from '../../ports/limiter'

export type Verdict = { readonly exceeded: null } | { readonly exceeded: keyof Limits; readonly retryAfter: number }

/** A request that never said that it is over is forgotten after this. */
const FORGOTTEN_MS = 120_000
const MINUTE_MS = 60_000

/**
 * The requests of one key, counted in memory: nothing is written, and what an eviction forgets is a minute of counting.
 * The minute is a sliding one, estimated from two fixed ones: the last one's count, by the share of it that still lies
 * inside, and this one's.
 */
export class GateObject extends DurableObject {
  private readonly running = new Map<string, number>()
  private minute = 0
  private current = 0
  private previous = 0

  enter(request: string, limits: Limits, now = Date.now()): Verdict {
    for (const [id, since] of this.running) if (now - since > FORGOTTEN_MS) this.running.delete(id)
    if (limits.concurrent !== null && this.running.size >= limits.concurrent)
      return { exceeded: 'concurrent', retryAfter: 1 }
    if (limits.perMinute !== null) {
      const left = this.turn(now)
      if (this.previous * left + this.current + 1 > limits.perMinute) {
        // While this minute alone fills the limit nothing helps but the next one; else the last one fades.
        const room = limits.perMinute - this.current - 1
        const fades = room < 0 ? left : left - room / this.previous
        return { exceeded: 'perMinute', retryAfter: Math.max(1, Math.ceil((fades * MINUTE_MS) / 1000)) }
      }
      this.current++
    }
    this.running.set(request, now)
    return { exceeded: null }
  }

  leave(request: string): void {
    this.running.delete(request)
  }

  /** Moves on to the minute of `now`. Returns the share of the minute before that the last sixty seconds still hold. */
  private turn(now: number): number {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.minute) {
      this.previous = minute === this.minute + 1 ? this.current : 0
      this.current = 0
      this.minute = minute
    }
    return 1 - (now % MINUTE_MS) / MINUTE_MS
  }
}
