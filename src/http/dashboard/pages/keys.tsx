import { type ApiKey, expiresSoon } from '../../../domain/identity/identity'
import { ROLES } from '../../../domain/identity/scope'
import type { Millis } from '../../../domain/time'
import { type Page, seeOther } from '../page'
import { Copyable, Name, Note, Nothing, Time } from '../parts/common'
import { Clients } from '../parts/connect'
import { Choice, Field, PostForm } from '../parts/form'
import { withQuery } from '../parts/words'
import { sent, type Visit } from '../visit'
import { type Administering, administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'
import { KeyUsage, USAGE_DAYS } from './key-usage'

/** Makes a key and shows it once. */
export const Making = ({ visit, by, org }: { visit: Visit; by: Administering['by']; org: string }) => (
  <PostForm action="/keys" token={visit.formToken} class="card stack-form">
    <h2>Make a key</h2>
    <OrgField by={by} org={org} />
    <div class="fields">
      <Field name="name" label="Name" hint="The person or program that uses it" required />
      <Choice name="role" label="Role" value="writer" options={ROLES.map((role) => [role, role])} />
      <Field name="projects" label="Projects" hint="Separated by commas; empty for all" />
      <Field name="agent" label="Agent" hint="Stored with each memory that it writes" />
      <Field
        name="owner"
        label="Owner"
        hint="Person or agent whose private memories the key can see; empty for a new one"
      />
      <Field name="email" label="E-mail" hint="The verified holder of this address signs in as this key" />
      <Field name="expires_at" label="Ends" type="date" />
    </div>
    <p>
      <button type="submit" class="main">
        Make it
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
  const { key, text } = await visit.services.administration.createKey(by, org, {
    name: sent(visit, 'name'),
    role: sent(visit, 'role'),
    projects: projects.length === 0 ? null : projects,
    ...{
      agent: sent(visit, 'agent'),
      owner: sent(visit, 'owner'),
      email: sent(visit, 'email'),
      expires_at: sent(visit, 'expires_at'),
    },
  })
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

/** Lists the keys of an organization with their roles. */
type By = Administering['by']

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

const Row = ({ of, visit, by, org }: { of: ApiKey; visit: Visit; by: By; org: string }) => {
  const now = visit.services.now()
  return (
    <tr class={of.revokedAt === null ? undefined : 'gone'}>
      <th scope="row">
        <strong>
          <Name>{of.name}</Name>
        </strong>
        <br />
        <span class="soft">{of.id}</span>
      </th>
      <td>{of.role}</td>
      <td>
        <Name>{of.projects === null ? 'all projects' : of.projects.join(', ')}</Name>
        {of.agent === null ? null : (
          <>
            <br />
            <span class="soft">
              as <Name>{of.agent}</Name>
            </span>
          </>
        )}
      </td>
      <td>{of.lastUsedAt === null ? <span class="soft">never</span> : <Time at={of.lastUsedAt} now={now} />}</td>
      <td>
        <State of={of} now={now} />
        {of.revokedAt !== null ? null : (
          <details>
            <summary>Revoke</summary>
            <PostForm action="/keys/revoke" token={visit.formToken}>
              <OrgField by={by} org={org} />
              <input type="hidden" name="id" value={of.id} />
              <p class="hint">It stops working at once, in every session and client that uses it.</p>
              <button type="submit" class="bad small">
                Revoke {of.name}
              </button>
            </PostForm>
          </details>
        )}
      </td>
    </tr>
  )
}

const Table = ({ keys, ...rest }: { keys: readonly ApiKey[]; visit: Visit; by: By; org: string }) => (
  <section class="card scroll" tabindex={0} aria-label="Keys">
    {keys.length > 0 ? (
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Role</th>
            <th scope="col">Reaches</th>
            <th scope="col">Last used</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row of={key} {...rest} />
          ))}
        </tbody>
      </table>
    ) : (
      <Nothing title="No keys yet">
        <p>Make one below for each client or person. It is shown once, with the lines to connect each client.</p>
      </Nothing>
    )}
  </section>
)

export async function keys(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'keys.list')
  const { administration, usage } = visit.services
  // A key for some projects does not see how others are used.
  const seesUse = org !== null && (by.kind === 'operator' || by.caller.projects === null)
  const [orgs, rows, used] = await Promise.all([
    orgsFor(visit, by),
    org === null ? [] : administration.keys(by, org),
    seesUse ? usage.report(by, org, USAGE_DAYS, 'key') : [],
  ])
  return {
    title: 'Keys',
    at: '/keys',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Keys</h1>
          <p>Give each client its own key, so that you can revoke one without the others.</p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/keys" orgs={orgs} org={org} /> : null}
        {org === null ? null : (
          <>
            <Table keys={rows} visit={visit} by={by} org={org} />
            <Making visit={visit} by={by} org={org} />
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
  return seeOther(withQuery('/keys', { org: by.kind === 'operator' ? org : null }))
}
