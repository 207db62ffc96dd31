import type { Child } from 'hono/jsx'
import type { ApiKey } from '../../../domain/identity/identity'
import { ROLES } from '../../../domain/identity/scope'
import type { Millis } from '../../../domain/time'
import { type Page, seeOther } from '../page'
import { Copyable, Name, Note, Nothing, Time } from '../parts/common'
import { Clients } from '../parts/connect'
import { Choice, errorsAt, Field, type FieldErrors, PostForm } from '../parts/form'
import { Head, sortOf } from '../parts/table-head'
import { Toast } from '../parts/toast'
import { count, withQuery } from '../parts/words'
import { queryParameter, sent, type Visit } from '../visit'
import { type Administering, administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'

/** Fields of a new key. */
const FIELDS = ['name', 'role', 'projects', 'agent', 'owner', 'expires_at'] as const

interface MakingProps {
  readonly visit: Visit
  readonly by: Administering['by']
  readonly org: string
  readonly errors?: FieldErrors
}

/** Makes a key and shows it once. After an error the form has the values that were sent. */
export const Making = ({ visit, by, org, errors = new Map() }: MakingProps) => (
  <PostForm action="/keys" token={visit.formToken} class="card stack-form" id="new">
    <h2>Make a key</h2>
    <OrgField by={by} org={org} />
    <div class="fields">
      <Field
        name="name"
        value={sent(visit, 'name')}
        error={errors.get('name')}
        label="Name"
        hint="The person or program that uses it"
        required
      />
      <Choice
        name="role"
        label="Role"
        value={sent(visit, 'role') ?? 'writer'}
        error={errors.get('role')}
        options={ROLES.map((role) => [role, role])}
      />
      <Field
        name="projects"
        value={sent(visit, 'projects')}
        error={errors.get('projects')}
        label="Projects"
        hint="Separated by commas; empty for all"
      />
      <Field
        name="agent"
        value={sent(visit, 'agent')}
        error={errors.get('agent')}
        label="Agent"
        hint="Stored with each memory that it writes"
      />
      <Field
        name="owner"
        value={sent(visit, 'owner')}
        error={errors.get('owner')}
        label="Owner"
        hint="Person or agent whose private memories the key can see; empty for a new one"
      />
      <Field
        name="expires_at"
        label="Expires"
        type="date"
        value={sent(visit, 'expires_at')}
        error={errors.get('expires_at')}
      />
    </div>
    <p>
      <button type="submit" class="main">
        Make it
      </button>
    </p>
  </PostForm>
)

interface MadeProps {
  readonly visit: Visit
  readonly by: Administering['by']
  readonly org: string
  readonly made: { readonly key: ApiKey; readonly text: string }
  /** Whether it replaces another key. */
  readonly isRotated: boolean
}

/** Shows a new key once. */
const madePage = ({ visit, by, org, made: { key, text }, isRotated }: MadeProps): Page => ({
  title: 'A new key',
  at: '/keys',
  body: (
    <div class="stack">
      <div class="head">
        <h1>
          The key of <Name>{key.name}</Name>
        </h1>
      </div>
      <Note>
        Copy the key now: it is shown only once. Anyone who has it gets its role ({key.role}).
        {isRotated ? ' The old key no longer works.' : ''}
      </Note>
      <section class="card">
        <Copyable text={text} label="The key" />
      </section>
      <section class="card">
        <h2>Connect a client with it</h2>
        <Clients of={{ origin: visit.url.origin, open: false, key: text }} />
      </section>
      <p>
        <a href={withQuery('/keys', { org: by.kind === 'operator' ? org : null })}>All keys</a>
      </p>
    </div>
  ),
})

/** Shows the key in the answer to the form; no address returns it again. */
export async function makeKey(visit: Visit): Promise<Page> {
  const { by, org } = await administeringOne(visit, 'keys.create')
  const projects = (sent(visit, 'projects') ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const draft = {
    name: sent(visit, 'name'),
    role: sent(visit, 'role'),
    projects: projects.length === 0 ? null : projects,
    ...{ agent: sent(visit, 'agent'), owner: sent(visit, 'owner'), expires_at: sent(visit, 'expires_at') },
  }
  try {
    const made = await visit.services.administration.createKey(by, org, draft)
    return madePage({ visit, by, org, made, isRotated: false })
  } catch (error) {
    const { errors, status } = errorsAt(error, FIELDS)
    return { ...(await keys(visit, errors)), status }
  }
}

/** Replaces a key by a new one, which is shown once. */
export async function rotateKey(visit: Visit): Promise<Page> {
  const { by, org } = await administeringOne(visit, 'keys.rotate')
  const made = await visit.services.administration.rotateKey(by, org, sent(visit, 'id') ?? '')
  return madePage({ visit, by, org, made, isRotated: true })
}

export async function switchCapture(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'keys.capture')
  await visit.services.administration.setCaptures(by, org, sent(visit, 'id') ?? '', sent(visit, 'capture') === 'on')
  return seeOther(withQuery('/keys', { org: by.kind === 'operator' ? org : null, done: 'capture' }))
}

/** Lists the keys of an organization with their roles. */
type By = Administering['by']

const SORTS = ['created', 'name', 'used', 'calls', 'expires'] as const
type Sort = (typeof SORTS)[number]
type Calls = ReadonlyMap<string, number>

const isOver = ({ revokedAt, expiresAt }: ApiKey, now: Millis): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now)

/** Returns the keys of the filter in the requested order, those in use first. */
function ordered(keys: readonly ApiKey[], calls: Calls, sort: Sort, text: string | null, now: Millis): ApiKey[] {
  const wanted = text?.trim().toLowerCase() ?? ''
  const texts = ({ name, id, role, agent, owner, projects }: ApiKey) => [
    name,
    id,
    role,
    agent ?? '',
    owner,
    ...(projects ?? []),
  ]
  const by: Readonly<Record<Sort, (a: ApiKey, b: ApiKey) => number>> = {
    created: (a, b) => b.createdAt - a.createdAt,
    name: (a, b) => a.name.localeCompare(b.name, 'en'),
    used: (a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0),
    calls: (a, b) => (calls.get(b.id) ?? 0) - (calls.get(a.id) ?? 0),
    expires: (a, b) => (b.expiresAt ?? 0) - (a.expiresAt ?? 0),
  }
  return keys
    .filter((key) => texts(key).some((one) => one.toLowerCase().includes(wanted)))
    .toSorted((a, b) => Number(isOver(a, now)) - Number(isOver(b, now)) || by[sort](a, b))
}

interface RowProps {
  readonly of: ApiKey
  readonly visit: Visit
  readonly by: By
  readonly org: string
  readonly calls: Calls
  /** Names of keys by their IDs. */
  readonly names: ReadonlyMap<string, string>
}

function State({ of: { revokedAt, expiresAt }, now }: { of: ApiKey; now: Millis }) {
  if (revokedAt !== null)
    return (
      <>
        revoked <Time at={revokedAt} now={now} />
      </>
    )
  if (expiresAt === null) return <>never</>
  return (
    <>
      {expiresAt <= now ? 'expired ' : ''}
      <Time at={expiresAt} now={now} />
    </>
  )
}

/** A form of one button that names a key. */
const Action = ({
  of: { of, visit, by, org },
  action,
  children,
}: {
  of: RowProps
  action: string
  children: Child
}) => (
  <PostForm action={action} token={visit.formToken}>
    <OrgField by={by} org={org} />
    <input type="hidden" name="id" value={of.id} />
    {children}
  </PostForm>
)

const Actions = (props: RowProps) => {
  const { of } = props
  const others = props.visit.config.captureDays > 0
  return (
    <details class="row-actions">
      <summary>
        Manage<span class="hidden"> {of.name}</span>
      </summary>
      <div class="more">
        {others ? (
          <Action of={props} action="/keys/capture">
            <p class="hint">
              Capture is {of.captures ? 'on: sessions with this key wait for review.' : 'off for this key.'}
            </p>
            <button type="submit" class="small" name="capture" value={of.captures ? 'off' : 'on'}>
              Switch capture {of.captures ? 'off' : 'on'}
            </button>
          </Action>
        ) : null}
        <Action of={props} action="/keys/rotate">
          <p class="hint">Rotating makes a new key with the same rights. The old one stops working at once.</p>
          <button type="submit" class="small">
            Rotate {of.name}
          </button>
        </Action>
        <Action of={props} action="/keys/revoke">
          <p class="hint">
            A revoked key stops working at once, in every session and client that uses it. This cannot be undone.
          </p>
          <button type="submit" class="bad small">
            Revoke {of.name}
          </button>
        </Action>
      </div>
    </details>
  )
}

const Row = (props: RowProps) => {
  const { of, visit, by, calls, names } = props
  const now = visit.services.now()
  const made = calls.get(of.id) ?? 0
  return (
    <tr class={isOver(of, now) ? 'gone' : undefined} data-row>
      <th scope="row">
        {by.kind === 'key' ? (
          <a href={withQuery('/activity', { by: of.id })} title="Activity of this key">
            <Name>{of.name}</Name>
          </a>
        ) : (
          <strong>
            <Name>{of.name}</Name>
          </strong>
        )}
        <br />
        <span class="soft">{of.id}</span>
      </th>
      <td data-label="Role">
        {of.role}
        <br />
        <span class="soft">
          <Name>{of.projects === null ? 'all projects' : of.projects.join(', ')}</Name>
          {of.agent === null ? null : (
            <>
              {' '}
              as <Name>{of.agent}</Name>
            </>
          )}
        </span>
      </td>
      <td data-label="Created">
        <Time at={of.createdAt} now={now} hours />
        <br />
        <span class="soft">
          by <Name>{names.get(of.createdBy) ?? of.createdBy}</Name>
        </span>
      </td>
      <td class="num" data-label="Last used">
        {of.lastUsedAt === null ? <span class="soft">never</span> : <Time at={of.lastUsedAt} now={now} />}
      </td>
      <td class="num" data-label="Calls">
        {made === 0 ? (
          <span class="soft">0</span>
        ) : (
          <a class="quiet" href={withQuery('/audit', { by: of.id, org: queryParameter(visit, 'org') })}>
            {count(made)}
          </a>
        )}
      </td>
      <td class="num" data-label="Expires">
        <State of={of} now={now} />
      </td>
      <td>{of.revokedAt === null ? <Actions {...props} /> : null}</td>
    </tr>
  )
}

interface TableProps extends Omit<RowProps, 'of' | 'names'> {
  readonly keys: readonly ApiKey[]
  readonly sort: Sort
}

const COLUMNS = [
  { name: 'Key', sort: 'name' },
  { name: 'Role and projects' },
  { name: 'Created', sort: 'created', isNumber: false },
  { name: 'Last used', sort: 'used', isNumber: true },
  { name: 'Calls', sort: 'calls', isNumber: true },
  { name: 'Expires', sort: 'expires', isNumber: true },
  { name: 'Actions', isHidden: true },
]

const Table = ({ keys, sort, ...rest }: TableProps) => {
  const now = rest.visit.services.now()
  const shown = ordered(keys, rest.calls, sort, queryParameter(rest.visit, 'text'), now)
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <section class="card scroll records stacked" id="list" tabindex={0} aria-label="Keys">
      {shown.length > 0 ? (
        <>
          <table>
            <Head url={rest.visit.url} columns={COLUMNS} sort={sort} />
            <tbody>
              {shown.map((key) => (
                <Row of={key} names={names} {...rest} />
              ))}
            </tbody>
          </table>
          <p class="hint more">Calls are writes, packs and denials in the newest 5,000 rows of the audit log.</p>
        </>
      ) : keys.length > 0 ? (
        <Nothing title="No key matches this filter" />
      ) : (
        <Nothing title="No keys yet">
          <p>Make one below for each client or person. It is shown once, with the lines to connect each client.</p>
        </Nothing>
      )}
    </section>
  )
}

/** Reports the last action. */
const DONE: Readonly<Record<string, string>> = {
  revoked: 'The key is revoked.',
  capture: 'Capture is switched for this key.',
}

export async function keys(visit: Visit, errors?: FieldErrors): Promise<Page> {
  const { by, org } = await administering(visit, 'keys.list')
  const { administration } = visit.services
  const [orgs, rows, calls] = await Promise.all([
    orgsFor(visit, by),
    org === null ? [] : administration.keys(by, org),
    org === null ? new Map<string, number>() : administration.calls(by, org),
  ])
  const done = DONE[queryParameter(visit, 'done') ?? '']
  const sort = sortOf(visit.url, SORTS)
  return {
    title: 'Keys',
    at: '/keys',
    ...(org === null ? {} : { list: 'Skip to the keys' }),
    body: (
      <div class="stack">
        {done === undefined ? null : <Toast>{done}</Toast>}
        {errors === undefined ? null : <Note bad>No key was made. Correct the marked field.</Note>}
        <div class="head">
          <h1>Keys</h1>
          <p>Give each client its own key, so that you can revoke one without the others.</p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/keys" orgs={orgs} org={org} /> : null}
        {org === null ? null : (
          <>
            {rows.length < FILTERED ? null : (
              <search>
                <form method="get" action="/keys" class="bar-form">
                  {by.kind === 'operator' ? <input type="hidden" name="org" value={org} /> : null}
                  <Field name="text" label="Name, role, project or agent" value={queryParameter(visit, 'text')} />
                  <button type="submit">Filter</button>
                </form>
              </search>
            )}
            <Table keys={rows} visit={visit} by={by} org={org} calls={calls} sort={sort} />
            <Making visit={visit} by={by} org={org} {...(errors === undefined ? {} : { errors })} />
          </>
        )}
      </div>
    ),
  }
}

/** Number of keys from which the list has a filter. */
const FILTERED = 5

export async function revokeKey(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'keys.revoke')
  await visit.services.administration.revokeKey(by, org, sent(visit, 'id') ?? '')
  return seeOther(withQuery('/keys', { org: by.kind === 'operator' ? org : null, done: 'revoked' }))
}
