/** A condition that an operator should know of. */
export interface Notice {
  /** Null for a condition of the complete deployment. */
  readonly org: string | null
  readonly event: 'review.waiting' | 'work.failed' | 'quota.entries' | 'quota.bytes' | 'quota.key' | 'backup.late'
  /** ID of the key of `quota.key`. */
  readonly key?: string
  /** Entries that wait, pieces of work, entries or bytes; hours since the last backup, null if there is none. */
  readonly value: number | null
  /** The quota, or the hours that are allowed; null for the other events. */
  readonly limit: number | null
}

/** Finds conditions of all organizations, and remembers which were reported. */
export interface Notices {
  /**
   * Returns conditions that hold and were not reported since a time. A condition that no longer holds is forgotten, so that it is reported
   * again when it returns.
   */
  due(since: number, limit: number): Promise<Notice[]>
  markSent(notices: readonly Notice[]): Promise<void>
}

/** Sends notices to the address of the operator. */
export interface Webhook {
  /** @throws Error unless the receiver accepts them */
  send(notices: readonly Notice[]): Promise<void>
}
