/** How much one credential may ask at once, and in a minute. */
export interface Limits {
  /** Null: as many as it likes. */
  readonly perMinute: number | null
  readonly concurrent: number | null
}

export type Admission =
  | {
      readonly admitted: true
      /** To be called when the request is over; never fails. */
      readonly leave: () => Promise<void>
    }
  | {
      readonly admitted: false
      readonly exceeded: keyof Limits
      /** Seconds after which it is worth trying again; at least 1. */
      readonly retryAfter: number
    }

export interface Asked {
  /** Messages that the request brings; 1 without it. */
  readonly messages?: number
  /** In the place of the configured number. */
  readonly perMinute?: number | undefined
}

/** Counts the requests of each key, over all isolates. A counter that does not answer admits: it guards, it is no door. */
export interface Limiter {
  enter(key: string, asked?: Asked): Promise<Admission>
}
