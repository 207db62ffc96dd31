import { readId } from '../../../domain/entry/link'
import { invalidInput } from '../../../domain/errors'
import type { AuditRow } from '../../../domain/identity/audit'
import type { ApiKey } from '../../../domain/identity/identity'
import { DAY_MS, type Millis } from '../../../domain/time'
import type { Page } from '../page'
import { Name, Nothing, Time } from '../parts/common'
import { Choice, Field, type FieldErrors } from '../parts/form'
import { entryAt, plain, plural, samePage, withQuery } from '../parts/words'
import { queryParameter, type Visit } from '../visit'
import { administering, administeringOne, OrgChoice, orgsFor } from './administering'

/** Shows the audit log, newest first. */
const SIZE = 80
/** Ids shown per row. */
const IDS = 3

interface RowProps {
  readonly of: AuditRow
  readonly now: Millis
  /** Names of keys by their IDs. */
  readonly names: ReadonlyMap<string, string>
}

const Row = ({ of: { at, keyId, agent, action, ids, allowed, detail }, now, names }: RowProps) => (
  <tr data-row>
    <td data-label="When">
      <Time at={at} now={now} hours />
    </td>
    <td data-label="Who">
      <Name>{agent ?? names.get(keyId) ?? keyId}</Name>
      {names.has(keyId) && agent !== null ? (
        <>
          <br />
          <span class="soft">
            key <Name>{names.get(keyId)}</Name>
          </span>
        </>
      ) : null}
    </td>
    <td data-label="Action">
      {allowed ? '' : <strong>denied: </strong>}
      {plain(action)}
    </td>
    <td class="ids" data-label="Memories">
      {ids.length === 0 ? null : (
        <div>
          {ids.slice(0, IDS).map((id) => (
            <>
              <a href={entryAt(id)}>{id}</a>{' '}
            </>
          ))}
          {ids.length > IDS ? <span class="soft">and {plural(ids.length - IDS, 'more', 'more')}</span> : null}
        </div>
      )}
    </td>
    <td class="soft" data-label="Details">
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

interface FiltersProps {
  readonly visit: Visit
  readonly org: string | null
  readonly keys: readonly ApiKey[]
  readonly errors: FieldErrors
}

/** Actions that filters suggest; any other name can be typed. */
const ACTIONS =
  'store_context store_context_batch update_context delete_context restore_context erase context remember update forget ' +
  'restore ' +
  'captured.keep captured.drop captured.merge captured.erase memory.approve memory.archive stale.resolve keys.create ' +
  'keys.rotate keys.revoke projects.rename projects.merge projects.split people.leave people.export audit.read'

/** Keys by their names. The one in the address may belong to none of them, such as the admin token. */
const keysWith = (keys: readonly ApiKey[], by: string | null) => [
  ['', 'all'] as const,
  ...(by === null || keys.some(({ id }) => id === by) ? [] : [[by, by] as const]),
  ...keys.map(({ id, name }) => [id, name] as const),
]

function Filters({ visit, org, keys, errors }: FiltersProps) {
  const value = (name: string) => queryParameter(visit, name)
  const some = ['action', 'by', 'outcome', 'from', 'to', 'memory'].some((name) => value(name) !== null)
  return (
    <form method="get" action="/audit" class="card stack-form">
      {visit.credential.kind === 'operator' && org !== null ? <input type="hidden" name="org" value={org} /> : null}
      <div class="fields short">
        <Field name="action" label="Action" value={value('action')} list="actions" />
        <Choice name="by" label="Key" value={value('by')} options={keysWith(keys, value('by'))} />
        <Choice name="outcome" label="Outcome" value={value('outcome')} options={OUTCOMES} />
        <Field name="from" label="From" type="date" value={value('from')} error={errors.get('from')} />
        <Field name="to" label="To" type="date" value={value('to')} error={errors.get('to')} />
        <Field
          name="memory"
          label="Memory"
          value={value('memory')}
          error={errors.get('memory')}
          hint="Its ID, or words to find it"
          finds="memories"
        />
      </div>
      <datalist id="actions">
        {ACTIONS.split(' ').map((one) => (
          <option value={one} />
        ))}
      </datalist>
      <p class="actions">
        <button type="submit">Filter</button>
        {some ? (
          <a class="button" href={withQuery('/audit', { org: value('org') })}>
            Clear
          </a>
        ) : null}
        <button type="submit" name="export" value="csv" formaction="/audit/export">
          Export CSV
        </button>
      </p>
    </form>
  )
}

/** Returns the start of a day in UTC; null for an absent or wrong date. */
const dayOf = (text: string | null): Millis | null => {
  if (text === null || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return null
  const at = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(at) ? null : at
}

/** Reads the filter from the address. The guard refuses parameters named like keys, so the key's id has another name. */
function requestOf(visit: Visit, limit: number) {
  const value = (name: string) => queryParameter(visit, name)
  const [before, outcome, from, to, memory] = [
    value('before'),
    value('outcome'),
    value('from'),
    value('to'),
    value('memory'),
  ]
  const errors = new Map<string, string>()
  const [since, lastDay, entryId] = [dayOf(from), dayOf(to), memory === null ? null : readId(memory.trim())]
  if (from !== null && since === null) errors.set('from', 'Write a date such as 2026-11-28.')
  if (to !== null && lastDay === null) errors.set('to', 'Write a date such as 2026-11-28.')
  if (since !== null && lastDay !== null && lastDay < since) errors.set('to', 'This date is before the first one.')
  if (memory !== null && entryId === null) errors.set('memory', 'Write the ID of a memory, such as 12.')
  const request = {
    before: before !== null && /^\d{1,15}$/.test(before) ? Number(before) : null,
    limit,
    key: value('by'),
    // Rows show it the same way.
    action: value('action')?.trim().replaceAll(' ', '_') ?? null,
    allowed: outcome === 'done' ? true : outcome === 'denied' ? false : null,
    ...{ since, until: lastDay === null ? null : lastDay + DAY_MS, entryId },
  }
  return { request, errors }
}

/** Rows of one file; the last line of a longer export names the next one. */
const MOST_EXPORTED = 5_000

/** Signs that begin a formula, also in their wide forms; `;` and a tab separate fields in the spreadsheets of many countries. */
const FORMULA = /(^|[;\t\r\n|])(?=[^\S\t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/** A text as a field of CSV. A sign that spreadsheets read as a formula is preceded by an apostrophe. */
export const csvField = (value: string | number): string => {
  const text = typeof value === 'string' ? value.replace(FORMULA, "$1'") : String(value)
  return /[",;\n\r\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the rows that match the filter as CSV, newest first. */
export async function exportAudit(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'audit.read')
  const { request, errors } = requestOf(visit, MOST_EXPORTED)
  const [wrong] = errors.values()
  if (wrong !== undefined) throw invalidInput(wrong)
  const { events } = await visit.services.administration.auditNewest(by, org, request)
  const lines = events.map(({ seq, at, keyId, agent, action, allowed, ids, detail }) =>
    [
      ...[seq, new Date(at).toISOString(), keyId, agent ?? '', action, allowed ? 'done' : 'denied', ids.join(' ')],
      Object.entries(detail)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ]
      .map(csvField)
      .join(','),
  )
  return new Response(['number,time,key,agent,action,outcome,memories,counts', ...lines, ''].join('\r\n'), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="audit-${new Date(visit.services.now()).toISOString().slice(0, 10)}.csv"`,
      'Cache-Control': 'no-store',
    },
  })
}

const COLUMNS = ['When', 'Who', 'Action', 'Memories', 'Details']

export async function audit(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'audit.read')
  const { administration, now } = visit.services
  const { request, errors } = requestOf(visit, SIZE)
  const [orgs, keys, page] = await Promise.all([
    orgsFor(visit, by),
    org === null ? [] : administration.keys(by, org),
    org === null || errors.size > 0 ? { events: [], older: null } : administration.auditNewest(by, org, request),
  ])
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return {
    title: 'Audit log',
    at: '/audit',
    ...(org === null ? {} : { list: 'Skip to the events' }),
    body: (
      <div class="stack">
        <div class="head">
          <h1>Audit log</h1>
          <p>
            Every write, every pack and every denial, without any text, for {plural(visit.config.auditDays, 'day')}.
          </p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/audit" orgs={orgs} org={org} /> : null}
        {org === null ? null : <Filters visit={visit} org={org} keys={keys} errors={errors} />}
        {org === null ? null : (
          <section class="card scroll records stacked audit" id="list" tabindex={0} aria-label="Events">
            {page.events.length > 0 ? (
              <table>
                <thead>
                  <tr>
                    {COLUMNS.map((name) => (
                      <th scope="col">{name}</th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {page.events.map((row) => (
                    <Row of={row} now={now()} names={names} />
                  ))}
                </tbody>
              </table>
            ) : (
              <Nothing
                title={page.older === null ? 'No matching actions' : 'No matching actions among the newest 5,000'}
              >
                <p>Actions have the names of tools, such as store_context, or of routes, such as keys.create.</p>
              </Nothing>
            )}
            {page.older === null ? null : (
              <p class="more">
                <a class="button" href={samePage(visit.url, { before: page.older })} rel="next">
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
