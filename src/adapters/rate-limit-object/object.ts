import { DurableObject } from 'cloudflare:workers'
import type { Millis } from '../../domain/time'
import type { Outcome, Presented, Verdict as TurnVerdict } from '../../ports/grant-locks'
import type { Limits } from '../../ports/limiter'
import { GrantState } from './grant-state'

type AdmissionVerdict = { readonly exceeded: null } | { readonly exceeded: keyof Limits; readonly retryAfter: number }

/** A request that never reported its end is dropped after this time. */
const FORGOTTEN_MS = 120_000
const MINUTE_MS = 60_000

interface Count {
  minute: number
  current: number
  previous: number
}

/**
 * How often in a minute the count of a busy key is stored: an object that restarts loses at most this fraction of it.
 */
const NOTES_A_MINUTE = 4

/**
 * Decides in one place about the requests of a key or, in an object with another name, about the token requests of an OAuth grant
 * (`grant-state.ts`). One class serves both, so that a deployment needs no further binding.
 *
 * Requests of a key are counted in memory, which an object loses after some ten idle seconds. The sliding minute is estimated from two
 * fixed ones:
 * the count of the last one, weighted by the fraction of it that is still inside, and the count of the present one.
 */
export class GateObject extends DurableObject {
  private readonly running = new Map<string, { readonly since: number; readonly messages: number }>()
  private readonly count: Count
  private readonly grant: GrantState

  constructor(state: DurableObjectState, env: never) {
    super(state, env)
    this.grant = new GrantState(state.storage)
    this.count = state.storage.kv.get<Count>('count') ?? { minute: 0, current: 0, previous: 0 }
  }

  /** Admits a request, or refuses it. @param messages number of messages in the request: all are admitted, or none */
  enter(request: string, limits: Limits, now = Date.now(), messages = 1): AdmissionVerdict {
    for (const [id, { since }] of this.running) if (now - since > FORGOTTEN_MS) this.running.delete(id)
    if (limits.concurrent !== null && this.messagesRunning() + messages > limits.concurrent)
      return { exceeded: 'concurrent', retryAfter: 1 }
    if (limits.perMinute !== null) {
      const waitMs = this.waitMs(limits.perMinute, messages, now)
      if (waitMs > 0) return { exceeded: 'perMinute', retryAfter: Math.ceil(waitMs / 1000) }
      const noted = Math.ceil(limits.perMinute / NOTES_A_MINUTE)
      const before = Math.floor(this.count.current / noted)
      this.count.current += messages
      if (Math.floor(this.count.current / noted) > before) this.ctx.storage.kv.put('count', this.count)
    }
    this.running.set(request, { since: now, messages })
    return { exceeded: null }
  }

  private messagesRunning(): number {
    let sum = 0
    for (const { messages } of this.running.values()) sum += messages
    return sum
  }

  leave(request: string): void {
    this.running.delete(request)
  }

  beginTurn(request: string, presented: Presented): Promise<TurnVerdict> {
    return this.grant.begin(request, presented)
  }

  finishTurn(request: string, outcome: Outcome): boolean {
    return this.grant.finish(request, outcome)
  }

  override alarm(): void {
    this.grant.forget()
  }

  /** Returns the milliseconds until this many more messages fit, if no other arrive; 0 when they fit now. */
  private waitMs(limit: number, messages: number, now: Millis): Millis {
    const { count } = this
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== count.minute) {
      count.previous = minute === count.minute + 1 ? count.current : 0
      count.current = 0
      count.minute = minute
    }
    const leftMs = MINUTE_MS - (now % MINUTE_MS)
    const remaining = limit - count.current - messages
    // If this minute alone reaches the limit, the next one must begin, and the count of this one decline in it.
    if (remaining < 0)
      return leftMs + MINUTE_MS - (Math.max(0, limit - messages) * MINUTE_MS) / Math.max(1, count.current)
    return Math.max(0, leftMs - (count.previous === 0 ? leftMs : (remaining * MINUTE_MS) / count.previous))
  }
}
