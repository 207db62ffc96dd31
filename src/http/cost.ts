import { type BilledCounts, type FreeDay, NOT_COUNTED, PRICES } from '../domain/cost'
import type { Cost } from '../services/people/cost'

const showCounts = ({ requests, rowsRead, rowsWritten }: BilledCounts, isRounded = false) => {
  // Parts of a limit, with four digits.
  const shown = (value: number) => (isRounded ? Number(value.toPrecision(4)) : value)
  return { requests: shown(requests), rows_read: shown(rowsRead), rows_written: shown(rowsWritten) }
}

const showFreeDay = ({ at, part }: FreeDay) => ({
  day: new Date(at).toISOString().slice(0, 10),
  part: showCounts(part, true),
})

/** Serializes the cost of this month for `/api/v1`. */
export function showCost({ org, host, hasRows, estimate }: Cost) {
  const { month, used, expected, paid, today, busiest, daysOver } = estimate
  const { readIn, freeDay, paid: plan } = PRICES
  const prices = {
    ...{ read_in: readIn, free_plan_day: showCounts(freeDay), paid_plan: plan.month },
    ...{ included: showCounts(plan.included), dollars_per_million: showCounts(plan.million) },
  }
  return {
    ...{ org, month, runs_on: host === 'machine' ? 'this machine' : 'Cloudflare', database_rows: hasRows },
    ...{ used: showCounts(used), expected: showCounts(expected) },
    ...(host === 'machine'
      ? { dollars: null }
      : {
          dollars: { plan: paid.plan, ...showCounts(paid), total: paid.total },
          free_plan: { today: showFreeDay(today), busiest_day: showFreeDay(busiest), days_over: daysOver },
          ...{ not_counted: NOT_COUNTED, prices },
        }),
  }
}
