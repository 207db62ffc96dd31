import type { Millis } from '../domain/time'

/** The source of time, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. In a Worker it does not advance between two I/O operations. */
  now(): Millis
}
