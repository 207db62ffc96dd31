import { type Config, VARIABLES } from '../../../config'
import { MEGABYTE } from '../../../domain/entry/image'
import { Name } from '../parts/common'
import { bytes, count, plural } from '../parts/words'
import type { Visit } from '../visit'

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
    <section class="card scroll" tabindex={0} aria-label="Configuration">
      <h2>Configuration</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([what, value, variable]) => (
            <tr>
              <th scope="row">{what}</th>
              <td>
                <Name>{value}</Name>
              </td>
              <td class="soft">{isSet(variable) ? variable : `default of ${variable}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {others.length === 0 ? null : <p class="hint">Also set: {others.join(', ')}.</p>}
    </section>
  )
}
