import type { Millis } from '../domain/time'

/** Whether a dependency answers, and what this isolate has seen of it. */
export interface DatabaseHealth {
  readonly backend: 'sqlite' | 'postgresql'
  /** @throws when the database does not answer */
  ping(): Promise<void>
  counts(): {
    readonly total: number
    readonly failed: number
    readonly lastFailed: boolean
    readonly latencyMs: Millis
  }
  /** Of the whole database, as it said last; absent or null where it does not tell. */
  readonly bytes?: () => number | null
  /** Bytes that the whole database may hold; absent where there is no fixed limit. */
  readonly limit?: number
}

/** Whether a configured model provider answers and has the model. */
export interface ModelHealth {
  readonly backend: string
  /** False: calls go on without it. */
  readonly required: boolean
  /** Cheap, bounded to seconds. @throws Problem unavailable that says what to start, pull or set */
  ping(): Promise<void>
}

export interface ObjectStoreHealth {
  readonly backend: string
  /** False: calls go on without it. */
  readonly required?: boolean
  ping(): Promise<void>
}
