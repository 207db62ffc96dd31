import { type CostEstimate, type DayCounts, estimateCost, firstDayOf } from '../../domain/cost'
import type { Clock } from '../../ports/clock'
import type { UsageStore } from '../../ports/usage'
import type { Administration, Administrator } from './administration'

/** Where the server runs: only Cloudflare bills by these counts. */
export type Host = 'cloudflare' | 'machine'

/** The counts of this month, and their cost where there is one. */
export interface Cost {
  /** Null for the complete deployment. */
  readonly org: string | null
  readonly host: Host
  /** Whether the database reports rows; PostgreSQL does not. */
  readonly hasRows: boolean
  readonly estimate: CostEstimate
  readonly days: readonly DayCounts[]
}

export type Costs = ReturnType<typeof createCosts>

/** Reports what this month costs, from the usage that the server counts. */
export function createCosts({
  usage,
  administration,
  clock,
  host,
  hasRows,
}: {
  readonly usage: Pick<UsageStore, 'days'>
  readonly administration: Pick<Administration, 'wholeActor'>
  readonly clock: Clock
  readonly host: Host
  readonly hasRows: boolean
}) {
  return {
    /**
     * Returns the cost of an organization.
     *
     * @param named null for that of the key; for the operator all organizations, and work that belongs to none
     * @throws Problem forbidden for a key that does not reach all projects, not_found for another organization
     */
    async thisMonth(by: Administrator, named: string | null): Promise<Cost> {
      const org = named ?? (by.kind === 'key' ? by.caller.org : null)
      if (org !== null) await administration.wholeActor(by, org)
      const now = clock.now()
      const days = await usage.days(org, firstDayOf(now))
      return { org, host, hasRows, days, estimate: estimateCost(days, now) }
    },
  }
}
