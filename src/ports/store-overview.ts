import type { Scope } from '../domain/identity/scope'
import type { LinkedEntry, StoreActivity } from '../domain/report'

export interface ActivityRequest {
  /** The newest so many entries are looked at, which bounds the rows read. */
  readonly newest: number
  /** Days are told from here on: milliseconds since 1970. */
  readonly since: number
  /** Names of agents, kinds and projects each. */
  readonly names: number
}

/** What pages for people show beside what tools answer. Everything is what the scope may see. */
export interface StoreOverview {
  activity(scope: Scope, request: ActivityRequest): Promise<StoreActivity>

  /** The first code points of the newest entries, newest first. */
  prefixes(scope: Scope, request: { readonly newest: number; readonly codePoints: number }): Promise<string[]>

  /** Links of a visible entry in both directions, newest neighbours first, at most `limit`; none of an entry that is not visible. */
  links(scope: Scope, id: number, limit: number): Promise<LinkedEntry[]>
}
