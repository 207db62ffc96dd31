import { Problem } from '../../domain/errors'
import type { Millis } from '../../domain/time'

/** Retries within limits, for every model provider (threads contract §7). Times are milliseconds. */
export interface Patience {
  readonly tries: number
  /** Time limit of one try. */
  readonly tryMs: Millis
  /** Time limit of all tries and the waits between them. */
  readonly totalMs: Millis
  /** False: a timeout is not retried, because the caller sends less the next time. */
  readonly retriesTimeouts?: boolean
}

/**
 * Returns the timeouts for embeddings, without which a write or a search fails. @param tryMs EMBEDDING_TIMEOUT_S in milliseconds
 */
export const patienceOf = (tryMs: Millis): Patience => ({ tries: 3, tryMs, totalMs: 2.5 * tryMs })

/** The default timeouts. */
export const PATIENT: Patience = patienceOf(10_000)

/** Timeouts for summaries and reranking: a call continues without them, so they must not delay it. */
export const ONE_TRY: Patience = { tries: 1, tryMs: 10_000, totalMs: 10_000 }

/** Time and randomness, which tests replace. */
export interface Timing {
  /** Milliseconds since 1970, since Retry-After may be a date. */
  readonly now: () => Millis
  readonly sleep: (ms: Millis) => Promise<void>
  /** From 0 to 1. */
  readonly random: () => number
}

export const SYSTEM_TIMING: Timing = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
}

/** Reason of a provider failure that an adapter handles. */
export type Reason = 'unreachable' | 'timeout' | 'status' | 'bad_answer' | 'too_long' | 'no_route'

export interface ProviderFailure {
  /** Message for the caller: names the provider and what to start or set, never an address or a key. */
  readonly message: string
  readonly reason: Reason
  /** Whether the same request may succeed later. */
  readonly retry: boolean
  /** Wait that the provider requested, instead of the back-off. */
  readonly waitMs?: Millis | undefined
  /** Private: only for the log. */
  readonly cause?: unknown
}

/** A request to a model provider failed. */
export class ProviderProblem extends Problem {
  readonly reason: Reason
  readonly failure: ProviderFailure

  constructor(failure: ProviderFailure) {
    super('unavailable', failure.message, {}, failure.cause)
    this.reason = failure.reason
    this.failure = failure
  }
}

/**
 * First wait of the back-off. It doubles with each try, and half of it is random, so that callers do not retry in step.
 */
const FIRST_WAIT_MS = 300

const backOff = (tried: number, random: number): number => FIRST_WAIT_MS * 2 ** (tried - 1) * (0.5 + random / 2)

/** Creates the problem for a call that exceeds what a model manages in its time. */
export const tooMuch = (name: string, ms: Millis): ProviderProblem =>
  new ProviderProblem({
    message: `${name} needed more than ${seconds(ms)} for this much text; send less at once`,
    reason: 'timeout',
    retry: false,
  })

interface Retrying {
  /** Display name of the provider, such as `Ollama`. */
  readonly name: string
  readonly patience: Patience
  readonly timing: Timing
  /** Time, by `timing`, after which no try begins. Several requests may share one. */
  readonly deadline: number
}

/**
 * Repeats a try until it succeeds, fails permanently, or the tries or the time are used up.
 *
 * @param attempt receives its time limit, at most the time to the deadline
 * @throws ProviderProblem of the last try; any other error of a try passes unchanged
 */
export async function retrying<T>(
  { name, patience, timing, deadline }: Retrying,
  attempt: (timeoutMs: Millis) => Promise<T>,
): Promise<T> {
  if (deadline <= timing.now()) {
    throw tooMuch(name, patience.totalMs)
  }
  for (let tried = 1; ; tried++) {
    try {
      return await attempt(Math.max(1, Math.min(patience.tryMs, deadline - timing.now())))
    } catch (error) {
      if (!(error instanceof ProviderProblem) || !error.failure.retry || tried >= patience.tries) throw error
      if (error.reason === 'timeout' && patience.retriesTimeouts === false) throw error
      const wait = error.failure.waitMs ?? backOff(tried, timing.random())
      if (timing.now() + wait >= deadline) throw error
      await timing.sleep(wait)
    }
  }
}

/** Thrown by `withTimeout`. */
export class TimedOut extends Error {}

/**
 * Runs work with a time limit; then aborts it and does not wait for it to stop.
 *
 * @throws TimedOut
 */
export async function withTimeout<T>(ms: Millis, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TimedOut(`no answer within ${ms} ms`))
      controller.abort()
    }, ms)
  })
  try {
    return await Promise.race([work(controller.signal), timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Formats a duration for messages, such as `10 s`. */
export const seconds = (ms: Millis): string => `${Math.round(ms / 100) / 10} s`

/** Part of the time limit in which a request should be answered; the rest is a reserve for a model that slows down. */
const AIM = 1 / 4
/** Factor by which requests grow after one that was answered in time. */
const GROWTH = 4
/** Minimum characters of a request: about a sentence. */
const MIN_CAPACITY = 200

/**
 * Learned speed of a model in an isolate: UTF-16 code units that it embeds in the target time; null before the first request.
 */
export interface ModelSpeed {
  capacity: number | null
}

/** Maximum UTF-16 code units of a request, and of the first one. */
interface RequestSizes {
  readonly characters: number
  readonly first?: number
}

/** Chooses the size of the next request by the durations of earlier ones. */
interface Pacing {
  /** Returns the UTF-16 code units of the next request. */
  capacity(): number
  /** Returns the UTF-16 code units that should be answered in this many milliseconds. */
  within(ms: Millis): number
  answered(units: number, tookMs: Millis): void
  timedOut(units: number, tookMs: Millis): void
}

/** Adapts the size of requests to the speed of a model. @param tryMs time limit of a request */
export function createPacing(speed: ModelSpeed, limits: RequestSizes, tryMs: Millis): Pacing {
  const aim = tryMs * AIM
  const capacity = (): number => Math.min(limits.characters, speed.capacity ?? limits.first ?? limits.characters)
  const learn = (units: number): void => {
    speed.capacity = Math.min(limits.characters, Math.max(MIN_CAPACITY, Math.floor(units)))
  }
  return {
    capacity,
    within: (ms) => (capacity() * ms) / aim,
    answered(units, tookMs) {
      const inAim = (units * aim) / Math.max(1, tookMs)
      // A short text says little about a fast model, so a quick response only makes requests larger.
      learn(tookMs > aim ? inAim : Math.max(capacity(), Math.min(inAim, capacity() * GROWTH)))
    },
    // It embeds fewer than these in that time; the exact number is unknown.
    timedOut: (units, tookMs) => learn(Math.min(capacity(), (units * aim) / Math.max(1, tookMs)) / 2),
  }
}
