/** Limits of one key: concurrent requests, and requests per minute. */
export interface Limits {
  /** Null: unlimited. */
  readonly perMinute: number | null
  readonly concurrent: number | null
}

export type Admission =
  | {
      readonly admitted: true
      /** Must be called when the request is over; never fails. */
      readonly leave: () => Promise<void>
    }
  | {
      readonly admitted: false
      readonly exceeded: keyof Limits
      /** Seconds to wait before a retry; at least 1. */
      readonly retryAfter: number
    }

export interface LimitRequest {
  /** Number of messages in the request; 1 when absent. */
  readonly messages?: number
  /** Replaces the configured limit. */
  readonly perMinute?: number | undefined
  /** A lower limit of requests per minute, in addition to the configured one. */
  readonly atMostPerMinute?: number | null
}

/** Limits the requests of each key, across isolates. If the counter does not respond, requests are admitted. */
export interface Limiter {
  enter(key: string, asked?: LimitRequest): Promise<Admission>
}
