import type { DayCounts } from '../domain/cost'

/** Counts of one key for one project on one day. */
export interface UsageCounts {
  /** HTTP requests, which Cloudflare bills. A message of MCP that calls no tool is a request without a call. */
  readonly requests: number
  readonly calls: number
  /** Calls that were answered by an error. */
  readonly failed: number
  /** Stored or changed entries. */
  readonly entries: number
  /** Rows that the database read and wrote, as far as it reports them. */
  readonly rowsRead: number
  readonly rowsWritten: number
  /** Tokens of the answers, at four characters each. */
  readonly tokens: number
}

/** One stored row. Work that belongs to no key, such as the schedule, has the organization ''. */
export interface UsageRow extends UsageCounts {
  readonly org: string
  /** Days since 1970, UTC. */
  readonly day: number
  readonly keyId: string
  /** The key of a project that exists; '' for none. */
  readonly project: string
}

/** Stores how much each key is used: one row for each key, project and day. */
export interface UsageStore {
  /** Adds counts to the rows of their keys and days. */
  add(rows: readonly UsageRow[]): Promise<void>
  /** Returns the sums of an organization by key and project, from a day on; without keys that made no call. */
  sums(org: string, from: number): Promise<readonly Omit<UsageRow, 'org' | 'day'>[]>
  /** Returns what each day used, from a day on, of an organization; with null of all, including work that belongs to no key. */
  days(org: string | null, from: number): Promise<readonly DayCounts[]>
  /** Deletes rows of days before one. @returns the number of deleted rows, at most `limit` */
  forget(before: number, limit: number): Promise<number>
}
