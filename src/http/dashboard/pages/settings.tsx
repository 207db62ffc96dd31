import { type Config, VARIABLES } from '../../../config'
import { MEGABYTE } from '../../../domain/entry/image'
import type { StoreStatistics } from '../../../domain/statistics'
import { type Check, checkParts } from '../../health'
import { type Page, seeOther } from '../page'
import { Name, Note } from '../parts/common'
import { PostForm } from '../parts/form'
import { bytes, count, plural } from '../parts/words'
import { queryParameter, type Visit } from '../visit'
import { administering, OrgChoice, orgsFor } from './administering'
import { Transfer } from './transfer'

/** Shows the configuration and its variables. Never a secret. */
const off = (value: number | null, unit: string): string => (value === null ? 'no limit' : `${count(value)} ${unit}`)

/** Settings in effect, each with its variable. */
function inForce(config: Config): readonly (readonly [what: string, value: string, variable: string])[] {
  const { embedding, summary, reranking, history, quotas, limits, imageLimits } = config
  const model = (choice: { provider: string; model: string } | null) =>
    choice === null ? 'off' : `${choice.provider}, ${choice.model}`
  return [
    ['Access', config.authMode === 'open' ? 'this computer, without a key' : 'with a key', 'AUTH_MODE'],
    ['Database', config.storageBackend, 'STORAGE_BACKEND'],
    ['Vectors', config.vectorBackend, 'VECTOR_BACKEND'],
    ['Embeddings', config.semantic.enabled ? model(embedding) : 'off', 'EMBEDDING_PROVIDER'],
    ['When embeddings fail', embedding.onFailure, 'EMBEDDING_FAILURE'],
    ['Search by words', config.fts.enabled ? config.fts.language : 'off', 'FTS_LANGUAGE'],
    ['Summaries', model(summary), 'SUMMARY_PROVIDER'],
    ['Reranking', model(reranking), 'RERANKING_PROVIDER'],
    ['Secrets in stored texts', config.redact === 'always' ? 'removed' : 'reported', 'REDACT'],
    ['Older versions are retained', plural(history.days, 'day'), 'HISTORY_DAYS'],
    ['Changes are retained', plural(config.changesDays, 'day'), 'CHANGES_DAYS'],
    ['The audit log is retained', plural(config.auditDays, 'day'), 'AUDIT_DAYS'],
    ['Repeated calls are recognized', plural(history.receiptHours, 'hour'), 'IDEMPOTENCY_HOURS'],
    ['Memories per organization', off(quotas.entries, 'at most'), 'MAX_ENTRIES_PER_ORG'],
    ['Bytes per organization', quotas.bytes === null ? 'no limit' : bytes(quotas.bytes), 'MAX_BYTES_PER_ORG'],
    ['Requests per key', off(limits.perMinute, 'a minute'), 'RATE_LIMIT_PER_MINUTE'],
    ['Concurrent per key', off(limits.concurrent, 'requests'), 'MAX_CONCURRENT_REQUESTS'],
    ['Size of an image', `${imageLimits.each / MEGABYTE} MB`, 'MAX_IMAGE_SIZE_MB'],
    ['Log', config.logLevel, 'LOG_LEVEL'],
  ]
}

export const Configured = ({ visit: { config, env } }: { visit: Visit }) => {
  const rows = inForce(config)
  const isSet = (name: string) => env[name] !== undefined && env[name] !== ''
  const others = VARIABLES.filter((name) => isSet(name) && !rows.some(([, , variable]) => variable === name))
  return (
    <section class="card records settings">
      <h2>Configuration</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">Variable</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([what, value, variable]) => (
            <tr>
              <th scope="row">{what}</th>
              <td>
                <Name>{value}</Name>
              </td>
              <td class="soft">
                <code>{variable}</code>
                {isSet(variable) ? null : <span class="default"> default</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {others.length === 0 ? null : <p class="hint">Also set: {others.join(', ')}.</p>}
    </section>
  )
}

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
          <p>The values in effect. Variables of the deployment change them.</p>
        </div>
        {queryParameter(visit, 'done') === null ? null : <Note>Pending work was retried.</Note>}
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
