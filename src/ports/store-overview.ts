import type { Scope } from '../domain/identity/scope'
import type { LinkedEntry, StoreActivity } from '../domain/report'

export interface ActivityRequest {
  /** Number of newest entries to count, which bounds the rows read. */
  readonly newest: number
  /** Start of the daily counts, milliseconds since 1970. */
  readonly since: number
  /** Maximum number of agents, kinds and projects each. */
  readonly names: number
}

/** What pages for people show beside what tools answer. Everything is what the scope may see. */
export interface StoreOverview {
  activity(scope: Scope, request: ActivityRequest): Promise<StoreActivity>

  /** Returns previews of the newest entries, newest first. */
  prefixes(scope: Scope, request: { readonly newest: number; readonly codePoints: number }): Promise<string[]>

  /** Returns links of a visible entry in both directions, newest neighbors first, at most `limit`; none for an invisible entry. */
  links(scope: Scope, id: number, limit: number): Promise<LinkedEntry[]>
}
