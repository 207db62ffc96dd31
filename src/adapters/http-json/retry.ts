import { Problem } from '../../domain/errors'
import type { Millis } from '../../domain/time'

/** Trying again within limits, for every model provider (threads contract §7). Times are milliseconds. */
export interface Patience {
  readonly tries: number
  /** How long one try may take. */
  readonly tryMs: Millis
  /** How long all tries and the waits between them may take. */
  readonly totalMs: Millis
  /** False: a try that was not answered in time is the last, since whoever asked sends less the next time. */
  readonly retriesTimeouts?: boolean
}

/**
 * Embeddings: without them a write or a search fails.
 *
 * @param tryMs what EMBEDDING_TIMEOUT_S says
 */
export const patienceOf = (tryMs: Millis): Patience => ({ tries: 3, tryMs, totalMs: 2.5 * tryMs })

/** Where nothing is set. */
export const PATIENT: Patience = patienceOf(10_000)

/** Summaries and reranking: the call goes on without them, so they must not hold it up. */
export const ONE_TRY: Patience = { tries: 1, tryMs: 10_000, totalMs: 10_000 }

/** Time and chance, so that tests own them. */
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

/** Why a provider failed, where an adapter does something about it. */
export type Reason = 'unreachable' | 'timeout' | 'status' | 'bad_answer' | 'too_long' | 'no_route'

export interface ProviderFailure {
  /** For the caller: names the provider and what to start or set, never an address or a key. */
  readonly message: string
  readonly reason: Reason
  /** Whether the same request may succeed when it is sent again. */
  readonly retry: boolean
  /** What the provider asked to wait, instead of the usual back-off. */
  readonly waitMs?: Millis | undefined
  /** Private: goes to the log only. */
  readonly cause?: unknown
}

/** A model provider did not do what it was asked. */
export class ProviderProblem extends Problem {
  readonly reason: Reason
  readonly failure: ProviderFailure

  constructor(failure: ProviderFailure) {
    super('unavailable', failure.message, {}, failure.cause)
    this.reason = failure.reason
    this.failure = failure
  }
}

/** First wait of the back-off. It doubles with each try; half of it is chance, so that callers do not return in step. */
const FIRST_WAIT_MS = 300

const backOff = (tried: number, random: number): number => FIRST_WAIT_MS * 2 ** (tried - 1) * (0.5 + random / 2)

/** A call asked for more than a model manages in its time. */
export const tooMuch = (name: string, ms: Millis): ProviderProblem =>
  new ProviderProblem({
    message: `${name} needed more than ${seconds(ms)} for this much text; send less at once`,
    reason: 'timeout',
    retry: false,
  })

interface Retrying {
  /** Of the provider, for messages: `Ollama`. */
  readonly name: string
  readonly patience: Patience
  readonly timing: Timing
  /** Instant, in the time of `timing`, after which nothing is tried or waited for. Several requests may share one. */
  readonly deadline: number
}

/**
 * Runs a try until it succeeds, fails for good, or the tries or the time are used up.
 *
 * @param attempt gets the time that it may take, at most to the deadline
 * @throws ProviderProblem of the last try; anything else that a try throws passes unchanged
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

/** What `withTimeout` throws. */
export class TimedOut extends Error {}

/**
 * Runs work for at most a time; then tells it to stop and does not wait for it to obey.
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

/** As messages say it: `10 s`. */
export const seconds = (ms: Millis): string => `${Math.round(ms / 100) / 10} s`

/** Part of the time that a request may take in which it is meant to be answered: the rest is for a model that slows down. */
const AIM = 1 / 4
/** By how much requests grow after one that was answered in time. */
const GROWTH = 4
/** Less is asked for at once by no model: a sentence. */
const MIN_CAPACITY = 200

/** What an isolate has learnt of a model: UTF-16 units that it embeds in the time a request is meant to take; null before the first. */
export interface ModelSpeed {
  capacity: number | null
}

/** UTF-16 units of a request: at most, and of the first one. */
interface RequestSizes {
  readonly characters: number
  readonly first?: number
}

/** How large the next request is, as the model managed the ones before. */
interface Pacing {
  /** UTF-16 units for a request now. */
  capacity(): number
  /** UTF-16 units that are expected to be answered in so many milliseconds. */
  within(ms: Millis): number
  answered(units: number, tookMs: Millis): void
  timedOut(units: number, tookMs: Millis): void
}

/** @param tryMs how long a request may take */
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
      // A short text says little of a fast model, so what was quick makes requests larger and never smaller.
      learn(tookMs > aim ? inAim : Math.max(capacity(), Math.min(inAim, capacity() * GROWTH)))
    },
    // It reads fewer units than these in that time; how many is not known.
    timedOut: (units, tookMs) => learn(Math.min(capacity(), (units * aim) / Math.max(1, tookMs)) / 2),
  }
}
