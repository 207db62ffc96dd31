import { DAY_MS, type Millis } from './time'

/** Quantities that Cloudflare bills and this server counts. */
export interface BilledCounts {
  readonly requests: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Counts of one day. */
export interface DayCounts extends BilledCounts {
  /** Days since 1970, UTC. */
  readonly day: number
}

export const BILLED = ['requests', 'rowsRead', 'rowsWritten'] as const satisfies readonly (keyof BilledCounts)[]

/**
 * Cloudflare's prices in US dollars (developers.cloudflare.com/workers/platform/pricing and /d1/platform/pricing). docs/cost.md and
 * docs/deploy.md quote them; a test compares them.
 */
export const PRICES = {
  /** When the lists were read. */
  readIn: 'November 2026',
  /** Limits of a UTC day on the Free plan. */
  freeDay: { requests: 100_000, rowsRead: 5_000_000, rowsWritten: 100_000 },
  /** The Paid plan: its price a month, the included quantities, and the price of a million more. */
  paid: {
    month: 5,
    included: { requests: 10_000_000, rowsRead: 25_000_000_000, rowsWritten: 50_000_000 },
    million: { requests: 0.3, rowsRead: 0.001, rowsWritten: 1 },
  },
} as const

/** Parts of a bill that this server does not measure. */
export const NOT_COUNTED = [
  'processor time',
  'storage of the database, images and backups',
  'requests and duration of Durable Objects',
  'operations of R2, KV and Vectorize',
  'Workers AI and other model providers',
  'taxes and discounts',
] as const

export type Dollars = BilledCounts & { readonly plan: number; readonly total: number }

/** A part of the daily limits of the Free plan: 1 is all of it. */
export interface FreeDay {
  /** Milliseconds since 1970 of the start of the day. */
  readonly at: Millis
  readonly part: BilledCounts
  /** The limit of which the largest part is used. */
  readonly first: keyof BilledCounts
}

/** The use of a calendar month (UTC), and its cost at Cloudflare. */
export interface CostEstimate {
  /** Such as `2026-11`. */
  readonly month: string
  readonly used: BilledCounts
  /** The counts of the complete month, if the rest of it is like the part that has passed. */
  readonly expected: BilledCounts
  /** The price of `expected` on the Paid plan. */
  readonly paid: Dollars
  readonly today: FreeDay
  /** The day of the month that used the largest part of a limit. */
  readonly busiest: FreeDay
  /** Days of the month that used more than a limit. */
  readonly daysOver: number
}

const each = (value: (name: keyof BilledCounts) => number): BilledCounts => ({
  requests: value('requests'),
  rowsRead: value('rowsRead'),
  rowsWritten: value('rowsWritten'),
})

const NONE = each(() => 0)

function freeDayOf(counts: DayCounts): FreeDay {
  const part = each((name) => counts[name] / PRICES.freeDay[name])
  const first = BILLED.reduce((most, name) => (part[name] > part[most] ? name : most))
  return { at: counts.day * DAY_MS, part, first }
}

const largest = ({ part, first }: FreeDay): number => part[first]

function dollarsOf(counts: BilledCounts): Dollars {
  const { month, included, million } = PRICES.paid
  const parts = each((name) => (Math.max(0, counts[name] - included[name]) / 1_000_000) * million[name])
  return { ...parts, plan: month, total: month + parts.requests + parts.rowsRead + parts.rowsWritten }
}

/** Returns the first day of the month of an instant, as days since 1970. */
export function firstDayOf(now: Millis): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS
}

/** The least part of a month from which the rest is computed: an hour would be multiplied by 700. */
const LEAST_PASSED = DAY_MS

/** Computes the cost of the month of `now` from the counts of its days. @param days days without use may be absent */
export function estimateCost(days: readonly DayCounts[], now: Millis): CostEstimate {
  const date = new Date(now)
  const start = firstDayOf(now) * DAY_MS
  const length = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - start
  const used = each((name) => days.reduce((sum, counts) => sum + counts[name], 0))
  const times = length / Math.max(now - start, LEAST_PASSED)
  const expected = each((name) => Math.round(used[name] * times))
  const today = Math.floor(now / DAY_MS)
  const free = days.map(freeDayOf)
  const present = freeDayOf(days.find(({ day }) => day === today) ?? { day: today, ...NONE })
  return {
    ...{ month: date.toISOString().slice(0, 7), used, expected, paid: dollarsOf(expected), today: present },
    busiest: free.reduce((most, one) => (largest(one) > largest(most) ? one : most), present),
    daysOver: free.filter((one) => largest(one) > 1).length,
  }
}
