import type { AuditRow } from '../../../domain/identity/audit'
import type { Millis } from '../../../domain/time'
import type { Page } from '../page'
import { Name, Nothing, Time } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { entryAt, plain, plural, samePage } from '../parts/words'
import { queryParameter, type Visit } from '../visit'
import { administering, OrgChoice, orgsFor } from './administering'

/** Shows the audit log, newest first. */
const SIZE = 100
/** Ids shown per row. */
const IDS = 3

const Row = ({ of: { at, keyId, agent, action, ids, allowed, detail }, now }: { of: AuditRow; now: Millis }) => (
  <tr>
    <td>
      <Time at={at} now={now} />
    </td>
    <td>
      <Name>{agent ?? keyId}</Name>
    </td>
    <td>
      {allowed ? '' : <strong>denied: </strong>}
      {plain(action)}
    </td>
    <td class="ids">
      {ids.slice(0, IDS).map((id) => (
        <>
          <a href={entryAt(id)}>{id}</a>{' '}
        </>
      ))}
      {ids.length > IDS ? <span class="soft">and {plural(ids.length - IDS, 'more', 'more')}</span> : null}
    </td>
    <td class="soft">
      {Object.entries(detail)
        .map(([name, value]) => `${plain(name)} ${value}`)
        .join(', ')}
    </td>
  </tr>
)

const OUTCOMES = [
  ['', 'all'],
  ['done', 'done'],
  ['denied', 'denied'],
] as const

function Filters({ visit, org }: { visit: Visit; org: string | null }) {
  return (
    <form method="get" action="/audit" class="bar-form">
      {visit.credential.kind === 'operator' && org !== null ? <input type="hidden" name="org" value={org} /> : null}
      <Field name="action" label="Action" value={queryParameter(visit, 'action')} placeholder="store_context" />
      <Field name="by" label="Id of a key" value={queryParameter(visit, 'by')} />
      <Choice name="outcome" label="Outcome" value={queryParameter(visit, 'outcome')} options={OUTCOMES} />
      <button type="submit">Filter</button>
    </form>
  )
}

/** Reads the filter from the address. The guard refuses parameters named like keys, so the key's id has another name. */
function requestOf(visit: Visit) {
  const before = queryParameter(visit, 'before')
  const outcome = queryParameter(visit, 'outcome')
  return {
    before: before !== null && /^\d{1,15}$/.test(before) ? Number(before) : null,
    limit: SIZE,
    key: queryParameter(visit, 'by'),
    // Rows show it the same way.
    action: queryParameter(visit, 'action')?.trim().replaceAll(' ', '_') ?? null,
    allowed: outcome === 'done' ? true : outcome === 'denied' ? false : null,
  }
}

export async function audit(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'audit.read')
  const { administration, now } = visit.services
  const nothing = { events: [], older: null }
  const [orgs, page] = await Promise.all([
    orgsFor(visit, by),
    org === null ? nothing : administration.auditNewest(by, org, requestOf(visit)),
  ])
  return {
    title: 'Audit log',
    at: '/audit',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Audit log</h1>
          <p>
            Every write, every pack and every denial, without any text, for {plural(visit.config.auditDays, 'day')}.
          </p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/audit" orgs={orgs} org={org} /> : null}
        {org === null ? null : <Filters visit={visit} org={org} />}
        {org === null ? null : (
          <section class="card scroll" tabindex={0} aria-label="Events">
            {page.events.length > 0 ? (
              <table>
                <thead>
                  <tr>
                    <th scope="col">When</th>
                    <th scope="col">Who</th>
                    <th scope="col">Did</th>
                    <th scope="col">To memories</th>
                    <th scope="col">Counts</th>
                  </tr>
                </thead>
                <tbody>
                  {page.events.map((row) => (
                    <Row of={row} now={now()} />
                  ))}
                </tbody>
              </table>
            ) : (
              <Nothing title="No matching actions">
                <p>An action has the name of a tool, such as store_context, or of a route, such as keys.create.</p>
              </Nothing>
            )}
            {page.older === null ? null : (
              <p class="more">
                <a class="button" href={samePage(visit.url, { before: page.older })}>
                  Older
                </a>
              </p>
            )}
          </section>
        )}
      </div>
    ),
  }
}
