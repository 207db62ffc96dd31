import type { ApiKey } from '../../../domain/identity/identity'
import type { Millis } from '../../../domain/time'
import { type Page, seeOther } from '../page'
import { withQuery } from '../parts/addresses'
import { Name, Nothing, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { sent, type Visit } from '../visit'
import { type Administering, administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'
import { Making } from './keys-make'

/** Lists the keys of an organization with their roles. */
type By = Administering['by']

function State({ of: { revokedAt, expiresAt }, now }: { of: ApiKey; now: Millis }) {
  if (revokedAt !== null)
    return (
      <>
        revoked <Time at={revokedAt} now={now} />
      </>
    )
  if (expiresAt === null) return <>in use</>
  return (
    <>
      {expiresAt <= now ? 'ended' : 'ends'} <Time at={expiresAt} now={now} />
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
  const { administration } = visit.services
  const [orgs, rows] = await Promise.all([orgsFor(visit, by), org === null ? [] : administration.keys(by, org)])
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
