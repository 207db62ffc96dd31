import { type ApiKey, expiresSoon } from '../../../domain/identity/identity'
import { isNearQuota } from '../../../domain/identity/key-limits'
import { ROLES } from '../../../domain/identity/scope'
import { compareText } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import { type Page, seeOther } from '../page'
import { Copyable, Name, Note, Nothing, Time } from '../parts/common'
import { Clients } from '../parts/connect'
import { Choice, errorsAt, Field, type FieldErrors, PostForm } from '../parts/form'
import { Toast } from '../parts/toast'
import { count, plural, withQuery } from '../parts/words'
import { queryParameter, sent, type Visit } from '../visit'
import { type Administering, administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'
import { KeyUsage, USAGE_DAYS } from './key-usage'

type By = Administering['by']

/** Whether hooks that use a key record sessions. */
const CAPTURE = [
  ['true', 'on'],
  ['false', 'off'],
] as const

/** Fields of the limits of a key. */
const LIMITS = ['rate_limit', 'max_entries'] as const

/** Fields of a new key. */
const FIELDS = ['name', 'role', 'projects', 'agent', 'owner', 'email', 'expires_at', ...LIMITS] as const

const LIMIT_LABELS = {
  rate_limit: ['Requests a minute', 'Empty for the limit of the server'],
  max_entries: ['New memories a day', 'Empty for no quota of the key'],
} as const

/** Reads a limit from a form. An empty field removes it; any other text is refused by its name. */
function sentLimit(visit: Visit, name: (typeof LIMITS)[number]): unknown {
  const text = sent(visit, name)?.trim() ?? ''
  return text === '' ? null : /^\d{1,15}$/.test(text) ? Number(text) : text
}

const sentLimits = (visit: Visit) => Object.fromEntries(LIMITS.map((name) => [name, sentLimit(visit, name)]))

interface MakingProps {
  readonly visit: Visit
  readonly by: By
  readonly org: string
  readonly errors?: FieldErrors
}

/** Makes a key and shows it once. After a refusal the form has the values that were sent. */
export const Making = ({ visit, by, org, errors = new Map() }: MakingProps) => (
  <PostForm action="/keys" token={visit.formToken} class="card stack-form" id="new">
    <h2>New key</h2>
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
        name="expires_at"
        value={sent(visit, 'expires_at')}
        error={errors.get('expires_at')}
        label="Expires"
        type="date"
      />
    </div>
    <details open={errors.size > 0}>
      <summary>Identity, limits and capture</summary>
      <div class="fields more">
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
          name="email"
          value={sent(visit, 'email')}
          error={errors.get('email')}
          label="E-mail"
          hint="The verified holder of this address signs in as this key"
        />
        {LIMITS.map((name) => (
          <Field
            name={name}
            value={sent(visit, name)}
            error={errors.get(name)}
            label={LIMIT_LABELS[name][0]}
            hint={LIMIT_LABELS[name][1]}
            inputmode="numeric"
          />
        ))}
        <Choice
          name="capture"
          label="Capture of sessions"
          value={sent(visit, 'capture') ?? 'true'}
          options={CAPTURE}
          hint="Whether hooks record its sessions"
        />
      </div>
    </details>
    <p>
      <button type="submit" class="main">
        Create key
      </button>
    </p>
  </PostForm>
)

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
    ...{
      agent: sent(visit, 'agent'),
      owner: sent(visit, 'owner'),
      email: sent(visit, 'email'),
      expires_at: sent(visit, 'expires_at'),
      capture: sent(visit, 'capture') !== 'false',
    },
    ...sentLimits(visit),
  }
  try {
    const { key, text } = await visit.services.administration.createKey(by, org, draft)
    return newKeyPage(visit, by, org, key, text)
  } catch (error) {
    const { errors, status } = errorsAt(error, FIELDS)
    return { ...(await keys(visit, errors)), status }
  }
}

/** Replaces a key by a new one with the same rights. */
export async function rotateKey(visit: Visit): Promise<Page> {
  const { by, org } = await administeringOne(visit, 'keys.rotate')
  const hours = Number(sent(visit, 'grace') ?? 0)
  const made = await visit.services.administration.rotateKey(by, org, sent(visit, 'id') ?? '', { grace_hours: hours })
  return newKeyPage(visit, by, org, made.key, made.text, made.replaced)
}

/** Sets the limits of a key: an empty field removes its limit. */
export async function limitKey(visit: Visit): Promise<Page | Response> {
  const { by, org } = await administeringOne(visit, 'keys.limit')
  const id = sent(visit, 'id') ?? ''
  try {
    await visit.services.administration.limitKey(by, org, id, sentLimits(visit))
  } catch (error) {
    const { errors, status } = errorsAt(error, LIMITS)
    return { ...(await keys(visit, errors, id)), status }
  }
  return seeOther(withQuery('/keys', { org: by.kind === 'operator' ? org : null, done: 'limits' }))
}

/** Switches capture for a key. */
export async function switchCapture(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'keys.capture')
  await visit.services.administration.setCaptures(by, org, sent(visit, 'id') ?? '', sent(visit, 'capture') === 'on')
  return seeOther(withQuery('/keys', { org: by.kind === 'operator' ? org : null, done: 'capture' }))
}

/** Shows a key that was just made. @param replaced the key that it replaces */
function newKeyPage(visit: Visit, by: By, org: string, key: ApiKey, text: string, replaced?: ApiKey): Page {
  const now = visit.services.now()
  const end = replaced === undefined ? null : (replaced.revokedAt ?? replaced.expiresAt)
  return {
    title: 'A new key',
    at: '/keys',
    body: (
      <div class="stack">
        <div class="head">
          <h1>
            The key of <Name>{key.name}</Name>
          </h1>
        </div>
        <Note>Copy the key now: it is shown only once. Anyone who has it gets its role ({key.role}).</Note>
        {replaced === undefined || end === null ? null : (
          <p>
            {`The key that it replaces (${replaced.id}) ${end <= now ? 'ended' : 'ends'} `}
            <Time at={end} now={now} />.
          </p>
        )}
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
  }
}

function State({ of, now }: { of: ApiKey; now: Millis }) {
  const { revokedAt, expiresAt } = of
  if (revokedAt !== null)
    return (
      <>
        revoked <Time at={revokedAt} now={now} />
      </>
    )
  if (expiresAt === null) return <>in use</>
  return (
    <>
      {expiresAt <= now ? 'ended' : expiresSoon(of, now) ? 'ends soon:' : 'ends'} <Time at={expiresAt} now={now} />
    </>
  )
}

/** Hours for which a replaced key works on, so that clients can be changed one after the other. */
const GRACE = [
  ['0', 'ends now'],
  ['24', 'works for 24 hours'],
  ['168', 'works for 7 days'],
] as const

/** A key with its calls of the last days; null where the caller does not see them. */
interface Listed {
  readonly key: ApiKey
  /** The name of the key that made it; its ID if it is not in the list. */
  readonly creator: string
  readonly calls: number | null
}

interface ActionsProps {
  readonly of: ApiKey
  readonly visit: Visit
  readonly by: By
  readonly org: string
  /** Errors of the limits of this key. */
  readonly errors: FieldErrors
}

/** Changes the limits of a key. After a refusal the form has the values that were sent. */
const Limits = ({ of, visit, by, org, errors }: ActionsProps) => {
  const now = { rate_limit: of.limits?.requestsPerMinute, max_entries: of.limits?.entriesPerDay }
  return (
    <PostForm action="/keys/limits" token={visit.formToken} class="stack-form more">
      <OrgField by={by} org={org} />
      <input type="hidden" name="id" value={of.id} />
      {LIMITS.map((name) => (
        <Field
          name={name}
          id={`${name}-${of.id}`}
          value={errors.size > 0 ? sent(visit, name) : String(now[name] ?? '')}
          error={errors.get(name)}
          label={LIMIT_LABELS[name][0]}
          hint={LIMIT_LABELS[name][1]}
          inputmode="numeric"
        />
      ))}
      <button type="submit" class="small">
        Limit {of.name}
      </button>
    </PostForm>
  )
}

/** The limits of a key and what it used of its quota. */
const Used = ({ of: { limits, storedToday = 0, ...key } }: { of: ApiKey }) => (
  <>
    {limits?.requestsPerMinute == null ? null : (
      <>
        <br />
        {plural(limits.requestsPerMinute, 'request')} a minute
      </>
    )}
    {limits?.entriesPerDay == null ? null : (
      <>
        <br />
        {count(storedToday)} of {plural(limits.entriesPerDay, 'new memory', 'new memories')} today
        {isNearQuota({ ...key, limits, storedToday }) ? <strong> (near its quota)</strong> : null}
      </>
    )}
  </>
)

const Actions = ({ of, visit, by, org, errors }: ActionsProps) => (
  <details class="row-actions" open={errors.size > 0}>
    <summary>
      Manage<span class="hidden"> {of.name}</span>
    </summary>
    {visit.config.captureDays === 0 ? null : (
      <PostForm action="/keys/capture" token={visit.formToken} class="more">
        <OrgField by={by} org={org} />
        <input type="hidden" name="id" value={of.id} />
        <p class="hint">
          Capture is {of.captures ? 'on: sessions with this key wait for review.' : 'off: hooks only give memories.'}
        </p>
        <button type="submit" class="small" name="capture" value={of.captures ? 'off' : 'on'}>
          Switch capture {of.captures ? 'off' : 'on'}
        </button>
      </PostForm>
    )}
    <Limits of={of} visit={visit} by={by} org={org} errors={errors} />
    <PostForm action="/keys/rotate" token={visit.formToken} class="stack-form more">
      <OrgField by={by} org={org} />
      <input type="hidden" name="id" value={of.id} />
      <Choice name="grace" id={`grace-${of.id}`} label="The old key" value="24" options={GRACE} />
      <button type="submit" class="small">
        Replace {of.name}
      </button>
    </PostForm>
    <PostForm action="/keys/revoke" token={visit.formToken} class="more">
      <OrgField by={by} org={org} />
      <input type="hidden" name="id" value={of.id} />
      <p class="hint">It stops working at once, in every session and client that uses it.</p>
      <button type="submit" class="bad small">
        Revoke {of.name}
      </button>
    </PostForm>
  </details>
)

interface RowProps {
  readonly of: Listed
  readonly visit: Visit
  readonly by: By
  readonly org: string
  readonly errors: FieldErrors
}

const Row = ({ of: { key, calls, creator }, visit, by, org, errors }: RowProps) => {
  const now = visit.services.now()
  return (
    <tr class={hasEnded(key, now) ? 'gone' : undefined} data-row>
      <th scope="row">
        {by.kind === 'key' ? (
          <a href={withQuery('/activity', { by: key.id })} title="Activity of this key">
            <Name>{key.name}</Name>
          </a>
        ) : (
          <strong>
            <Name>{key.name}</Name>
          </strong>
        )}
        <br />
        <span class="soft">
          {key.id}
          <br />
          owner <Name>{key.owner}</Name>
        </span>
      </th>
      <td data-label="Rights">
        {key.role}
        <br />
        <span class="soft">
          <Name>{key.projects === null ? 'all projects' : key.projects.join(', ')}</Name>
          {key.agent === null ? null : (
            <>
              {' '}
              as <Name>{key.agent}</Name>
            </>
          )}
          {key.captures ? null : (
            <>
              <br />
              no capture
            </>
          )}
          <Used of={key} />
        </span>
      </td>
      <td data-label="Created">
        <Time at={key.createdAt} now={now} hours />
        <br />
        <span class="soft">
          by <Name>{creator}</Name>
        </span>
      </td>
      <td data-label="Last used">
        {key.lastUsedAt === null ? <span class="soft">never</span> : <Time at={key.lastUsedAt} now={now} />}
        {calls === null ? null : (
          <>
            <br />
            <a class="quiet" href={withQuery('/audit', { by: key.id, org: by.kind === 'operator' ? org : null })}>
              {plural(calls, 'call', 'calls')}
            </a>
          </>
        )}
      </td>
      <td data-label="State">
        <State of={key} now={now} />
        {hasEnded(key, now) ? null : <Actions of={key} visit={visit} by={by} org={org} errors={errors} />}
      </td>
    </tr>
  )
}

const hasEnded = ({ revokedAt, expiresAt }: ApiKey, now: Millis): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now)

/** Orders of the list. */
const ORDERS = [
  ['used', 'last used'],
  ['name', 'name'],
  ['created', 'created'],
] as const
type Order = (typeof ORDERS)[number][0]

const compare: Readonly<Record<Order, (a: Listed, b: Listed) => number>> = {
  used: (a, b) => (b.key.lastUsedAt ?? 0) - (a.key.lastUsedAt ?? 0) || b.key.createdAt - a.key.createdAt,
  name: (a, b) => compareText(a.key.name, b.key.name),
  created: (a, b) => b.key.createdAt - a.key.createdAt,
}

interface Shown {
  readonly show: 'use' | 'ended'
  readonly order: Order
}

const shownOf = (visit: Visit): Shown => ({
  show: queryParameter(visit, 'show') === 'ended' ? 'ended' : 'use',
  order: ORDERS.find(([one]) => one === queryParameter(visit, 'sort'))?.[0] ?? 'used',
})

interface TableProps {
  readonly keys: readonly Listed[]
  readonly visit: Visit
  readonly by: By
  readonly org: string
  /** Errors of the limits of one key. */
  readonly refused: { readonly id: string; readonly errors: FieldErrors } | null
}

function Table({ keys: all, visit, by, org, refused }: TableProps) {
  const { show, order } = shownOf(visit)
  const now = visit.services.now()
  const ended = all.filter(({ key }) => hasEnded(key, now))
  const keys = (show === 'ended' ? ended : all.filter(({ key }) => !hasEnded(key, now))).toSorted(compare[order])
  return (
    <section class="card scroll records stacked" id="list" tabindex={0} aria-label="Keys">
      {all.length === 0 ? null : (
        <form method="get" action="/keys" class="bar-form">
          <OrgField by={by} org={org} />
          <Choice
            name="show"
            label="Show"
            value={show}
            options={[
              ['use', `in use (${count(all.length - ended.length)})`],
              ['ended', `ended (${count(ended.length)})`],
            ]}
          />
          <Choice name="sort" label="Sort by" value={order} options={ORDERS} />
          <button type="submit">Apply</button>
        </form>
      )}
      {keys.length > 0 ? (
        <table>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Rights</th>
              <th scope="col">Created</th>
              <th scope="col">Last used</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <Row
                of={key}
                visit={visit}
                by={by}
                org={org}
                errors={refused?.id === key.key.id ? refused.errors : new Map()}
              />
            ))}
          </tbody>
        </table>
      ) : show === 'ended' ? (
        <Nothing title="No key has ended" />
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
  limits: 'The limits of the key are changed.',
}

/** @param of the key whose limits the errors are about; absent for those of a new key */
export async function keys(visit: Visit, errors?: FieldErrors, of?: string): Promise<Page> {
  const { by, org } = await administering(visit, 'keys.list')
  const { administration, usage } = visit.services
  // A key for some projects does not see how others are used.
  const seesUse = org !== null && (by.kind === 'operator' || by.caller.projects === null)
  const [orgs, rows, used] = await Promise.all([
    orgsFor(visit, by),
    org === null ? [] : administration.keys(by, org),
    seesUse ? usage.report(by, org, USAGE_DAYS, 'key') : [],
  ])
  const done = DONE[queryParameter(visit, 'done') ?? '']
  return {
    title: 'Keys',
    at: '/keys',
    ...(org === null ? {} : { list: 'Skip to the keys' }),
    body: (
      <div class="stack">
        {done === undefined ? null : <Toast>{done}</Toast>}
        {errors === undefined ? null : (
          <Note bad>{of === undefined ? 'No key was made' : 'Nothing was changed'}. Correct the marked field.</Note>
        )}
        <div class="head">
          <h1>Keys</h1>
          <p>Give each client its own key, so that you can revoke one without the others.</p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/keys" orgs={orgs} org={org} /> : null}
        {org === null ? null : (
          <>
            <Table
              keys={rows.map((key) => ({
                key,
                creator: rows.find(({ id }) => id === key.createdBy)?.name ?? key.createdBy,
                calls: seesUse ? (used.find(({ of }) => of === key.id)?.calls ?? 0) : null,
              }))}
              visit={visit}
              by={by}
              org={org}
              refused={of === undefined || errors === undefined ? null : { id: of, errors }}
            />
            <Making visit={visit} by={by} org={org} {...(errors === undefined || of !== undefined ? {} : { errors })} />
            <KeyUsage of={used} />
          </>
        )}
      </div>
    ),
  }
}

export async function revokeKey(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'keys.revoke')
  await visit.services.administration.revokeKey(by, org, sent(visit, 'id') ?? '')
  return seeOther(withQuery('/keys', { org: by.kind === 'operator' ? org : null, done: 'revoked' }))
}
