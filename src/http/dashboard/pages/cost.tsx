import { BILLED, type BilledCounts, type DayCounts, type FreeDay, NOT_COUNTED, PRICES } from '../../../domain/cost'
import { DAY_MS } from '../../../domain/time'
import type { Cost } from '../../../services/people/cost'
import type { Page } from '../page'
import { Meter } from '../parts/charts'
import { Name } from '../parts/common'
import { count, day, plural } from '../parts/words'
import type { Visit } from '../visit'
import { administering, OrgChoice, orgsFor } from './administering'

/** The use of this month and its estimated cost at Cloudflare, from the server's own counters. */
const WORDS: Readonly<Record<keyof BilledCounts, string>> = {
  requests: 'Requests',
  rowsRead: 'Rows read',
  rowsWritten: 'Rows written',
}

/** The fraction of a daily limit above which the page warns. */
const NEARLY_FULL = 0.8

const dollars = (value: number): string => `$${value.toFixed(2)}`

const percent = (part: number): string => (part > 0 && part < 0.001 ? '< 0.1%' : `${(part * 100).toFixed(1)}%`)

/** PostgreSQL reports no rows. */
const billedOf = ({ hasRows }: Cost): readonly (keyof BilledCounts)[] => (hasRows ? BILLED : ['requests'])

const ofLimit = ({ first }: FreeDay): string => `of its ${WORDS[first].toLowerCase()}`

const Tiles = ({ of: { host, estimate } }: { of: Cost }) => {
  const { paid, today, busiest, daysOver, used } = estimate
  if (host === 'machine') return null
  const firstDay = Date.parse(`${estimate.month}-01`)
  const tiles: readonly (readonly [string, string, string])[] = [
    ['Expected on the Paid plan', dollars(paid.total), `${dollars(paid.plan)} of it for the complete account`],
    [
      'Busiest day on the Free plan',
      percent(busiest.part[busiest.first]),
      daysOver > 0 ? `${plural(daysOver, 'day')} above a limit` : ofLimit(busiest),
    ],
    ['Today on the Free plan', percent(today.part[today.first]), ofLimit(today)],
    ['Requests this month', count(used.requests), `since ${day(firstDay, firstDay)}`],
  ]
  return (
    <dl class="tiles">
      {tiles.map(([label, value, beside]) => (
        <div>
          <dt>{label}</dt>
          <dd>
            {value}
            <small>{beside}</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}

const Month = ({ of }: { of: Cost }) => {
  const { estimate, host } = of
  const { included } = PRICES.paid
  const isBilled = host === 'cloudflare'
  return (
    <section class="card scroll records stacked" tabindex={0} aria-label="This month">
      <h2>This month</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Counted</th>
            <th scope="col" class="num">
              So far
            </th>
            <th scope="col" class="num">
              Expected
            </th>
            {isBilled ? (
              <>
                <th scope="col" class="num">
                  Included in Paid
                </th>
                <th scope="col" class="num">
                  Above it
                </th>
              </>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {billedOf(of).map((name) => (
            <tr>
              <th scope="row">{WORDS[name]}</th>
              <td class="num" data-label="So far">
                {count(estimate.used[name])}
              </td>
              <td class="num" data-label="Expected">
                {count(estimate.expected[name])}
              </td>
              {isBilled ? (
                <>
                  <td class="num soft" data-label="Included">
                    {count(included[name])}
                  </td>
                  <td class="num" data-label="Above it">
                    {dollars(estimate.paid[name])}
                  </td>
                </>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint more">
        <em>Expected</em> is the complete month (UTC), if its rest is like the days so far.
      </p>
    </section>
  )
}

/** The parts of today's limits. Cloudflare applies them to the account, the page counts this server. */
const Free = ({ of }: { of: Cost }) => {
  const { today, busiest } = of.estimate
  return (
    <section class="card">
      <h2>Today on the Free plan</h2>
      {billedOf(of).map((name) => {
        const part = today.part[name]
        const limit = PRICES.freeDay[name]
        const says = `${percent(part)} of ${count(limit)}`
        return <Meter label={WORDS[name]} part={part} whole={1} says={says} warnsAt={NEARLY_FULL} />
      })}
      <p class="hint more">
        At a limit Cloudflare refuses requests or every query until midnight UTC, and the server answers{' '}
        <code>limit_exceeded</code>. Stored data stay. The busiest day of this month was {day(busiest.at, busiest.at)}.
      </p>
    </section>
  )
}

const Days = ({ of }: { of: Cost }) => {
  const billed = billedOf(of)
  const rows: readonly DayCounts[] = of.days.toReversed()
  return rows.length === 0 ? null : (
    <details class="card">
      <summary>Each day</summary>
      <section class="scroll records more" tabindex={0} aria-label="Each day">
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              {billed.map((name) => (
                <th scope="col" class="num">
                  {WORDS[name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr>
                <th scope="row">{new Date(one.day * DAY_MS).toISOString().slice(0, 10)}</th>
                {billed.map((name) => (
                  <td class="num">{count(one[name])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

/** States which use the numbers contain, and which not. */
const Limits = ({ of: { org, host, hasRows } }: { of: Cost }) => (
  <section class="card">
    <h2>What is counted</h2>
    <ul class="more bullets">
      <li>
        {org === null
          ? 'All organizations, and work that belongs to no key: the schedule, pages of the dashboard, refused requests.'
          : 'Requests with keys of this organization, and the work that they cause. The schedule and pages of the dashboard belong to the deployment: only ADMIN_TOKEN reads their counts.'}
      </li>
      <li>An isolate that ends loses its last minute. Days are retained as long as the audit log.</li>
      {hasRows ? null : <li>PostgreSQL does not report rows, and has a price of its own.</li>}
      {host === 'machine' ? null : (
        <>
          <li>Not counted: {NOT_COUNTED.join(', ')}.</li>
          <li>
            Prices are those of Cloudflare’s lists of {PRICES.readIn}: a million requests{' '}
            {dollars(PRICES.paid.million.requests)}, a million rows read ${PRICES.paid.million.rowsRead}, a million rows
            written {dollars(PRICES.paid.million.rowsWritten)}. This is an estimate, not a bill.
          </li>
        </>
      )}
    </ul>
  </section>
)

export async function cost(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'usage.read')
  const [of, orgs] = await Promise.all([visit.services.costs.thisMonth(by, org), orgsFor(visit, by)])
  return {
    title: 'Cost',
    at: '/cost',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Cost</h1>
          <p>
            {of.host === 'machine'
              ? 'This server runs on this machine and costs nothing. It counted this month for '
              : 'Estimated from what this server counted this month for '}
            {of.org === null ? 'all organizations' : <Name>{of.org}</Name>}.
          </p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/cost" orgs={orgs} org={org} all="all organizations" /> : null}
        <Tiles of={of} />
        <Month of={of} />
        {of.host === 'machine' ? null : <Free of={of} />}
        <Days of={of} />
        <Limits of={of} />
      </div>
    ),
  }
}
