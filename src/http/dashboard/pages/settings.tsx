import type { StoreStatistics } from '../../../domain/report'
import { type Check, checkParts } from '../../health'
import { type Page, seeOther } from '../page'
import { Note } from '../parts/common'
import { PostForm } from '../parts/form'
import { count, plural } from '../parts/words'
import { asked, type Visit } from '../visit'
import { administering, OrgChoice, orgsFor } from './administering'
import { Configured } from './settings-in-force'
import { Transfer } from './transfer-shown'

/** Shows the configuration, the state of the backends, and pending work. Never a secret. */

const Backends = ({ checks }: { checks: Readonly<Record<string, Check>> }) => (
  <section class="card">
    <h2>Backends</h2>
    <table>
      <thead class="hidden">
        <tr>
          <th scope="col">Part</th>
          <th scope="col">Backend</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(checks).map(([name, { backend, ok, problem }]) => (
          <tr>
            <th scope="row">{name}</th>
            <td>{backend}</td>
            <td class={ok ? 'state' : 'state off'}>
              {ok ? 'responds' : <strong>{problem ?? 'does not respond'}</strong>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

/** Pending work of the organization; not counted for ADMIN_TOKEN, which has none. */
function Work({ token, work }: { token: string; work: StoreStatistics['work'] | null }) {
  return (
    <section class="card">
      <h2>Pending work</h2>
      <p>
        {work === null
          ? 'Vectors, search words and images that are not yet created or removed.'
          : work.pending + work.failed === 0
            ? 'None: everything can be found, and every deletion is complete.'
            : `${plural(work.pending, 'piece')} pending, ${count(work.failed)} failed. Failed work is retried on schedule.`}
      </p>
      <PostForm action="/settings/work" token={token} class="more">
        <button type="submit">Try now</button>
      </PostForm>
    </section>
  )
}

export async function settings(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'settings.read')
  const { credential, services, formToken } = visit
  const [{ checks, ready }, statistics, orgs] = await Promise.all([
    checkParts(services.health),
    credential.kind === 'operator' ? null : services.entries.statistics(credential.principal),
    orgsFor(visit, by),
  ])
  return {
    title: 'Settings',
    at: '/settings',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Settings</h1>
          <p>Set by variables of the deployment. This page shows the values in effect.</p>
        </div>
        {asked(visit, 'done') === null ? null : <Note>Pending work was retried.</Note>}
        {ready ? null : <Note bad>A required backend does not respond.</Note>}
        <div class="grid">
          <Backends checks={checks} />
          <Work token={formToken} work={statistics?.work ?? null} />
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/settings" orgs={orgs} org={org} /> : null}
        {org === null ? null : <Transfer visit={visit} by={by} org={org} />}
        <Configured visit={visit} />
      </div>
    ),
  }
}

export async function tryWork(visit: Visit): Promise<Response> {
  await administering(visit, 'settings.work')
  await visit.services.maintenance.work()
  return seeOther('/settings?done=work')
}
