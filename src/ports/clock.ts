import type { Millis } from '../domain/time'

/** Where time comes from, so that tests own it. */
export interface Clock {
  /** Milliseconds since 1970. In a Worker it stands still between two I/O operations. */
  now(): Millis
}
