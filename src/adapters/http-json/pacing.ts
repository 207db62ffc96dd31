import type { Millis } from '../../domain/time'

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
