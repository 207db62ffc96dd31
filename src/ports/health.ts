/** Whether a dependency answers, and what this isolate has seen of it. */
export interface DatabaseHealth {
  readonly backend: 'sqlite' | 'postgresql'
  /** @throws when the database does not answer */
  ping(): Promise<void>
  counts(): {
    readonly total: number
    readonly failed: number
    readonly lastFailed: boolean
    readonly latencyMs: number
  }
}

export interface ObjectStoreHealth {
  readonly backend: string
  ping(): Promise<void>
}
