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

/** What is configured and from where, which backends answer, and what waits. Never a secret. */

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
              {ok ? 'answers' : <strong>{problem ?? 'does not answer'}</strong>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

/** Work of an organization's own; of ADMIN_TOKEN, which has none, nothing is counted. */
function Work({ token, work }: { token: string; work: StoreStatistics['work'] | null }) {
  return (
    <section class="card">
      <h2>Work that waits</h2>
      <p>
        {work === null
          ? 'Vectors, words and images that are still to be made or removed.'
          : work.pending + work.failed === 0
            ? 'None: everything is found and everything deleted is gone.'
            : `${plural(work.pending, 'piece')} waiting, ${count(work.failed)} failed; the schedule tries again by itself.`}
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
          <p>Set by variables of the deployment; this page shows what is in force.</p>
        </div>
        {asked(visit, 'done') === null ? null : <Note>What was due has been tried.</Note>}
        {ready ? null : <Note bad>A backend that is needed does not answer.</Note>}
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
