import type { Millis } from '../domain/time'

/** State of a dependency, and this isolate's observations of it. */
export interface DatabaseHealth {
  readonly backend: 'sqlite' | 'postgresql'
  /** @throws when the database does not respond */
  ping(): Promise<void>
  counts(): {
    readonly total: number
    readonly failed: number
    readonly lastFailed: boolean
    readonly latencyMs: Millis
  }
  /** Size of the complete database, as last reported; absent or null if unknown. */
  readonly bytes?: () => number | null
  /** Bytes that the whole database may hold; absent where there is no fixed limit. */
  readonly limit?: number
}

/** Checks that a configured model provider responds and has the model. */
export interface ModelHealth {
  readonly backend: string
  /** False: the server works without it. */
  readonly required: boolean
  /** Cheap, limited to seconds. @throws Problem unavailable with what to start, pull or set */
  ping(): Promise<void>
}

export interface ObjectStoreHealth {
  readonly backend: string
  /** False: the server works without it. */
  readonly required?: boolean
  ping(): Promise<void>
}
