import type { Child } from 'hono/jsx'
import { insteadOf } from '../../../domain/meaning/hosted-model'
import type { Counted } from '../../../domain/report'
import { firstCodePoints } from '../../../domain/text'
import { Meter } from '../parts/charts'
import { Name } from '../parts/common'
import { bytes, count, plural } from '../parts/words'
import type { Visit } from '../visit'
import type { Seen } from './overview-seen'

/** How much there is, and whether it is found. */
/** The share of a limit from which on it is told as too much (operate contract §4). */
const NEARLY_FULL = 0.8

export const Tiles = ({ seen: { totals, activity, now } }: { seen: Seen }) => {
  const today = new Date(now).toISOString().slice(0, 10)
  const stored = activity.days.find(({ name }) => name === today)?.count ?? 0
  const named = activity.agents.filter(({ name }) => name !== '')
  const tiles: readonly (readonly [string, number, Child])[] = [
    ['Memories', totals.entries, stored === 0 ? 'none stored today' : `${count(stored)} stored today`],
    ['Threads', totals.threads, plural(totals.uniqueTags, 'tag')],
    ['Agents', activity.agentCount, named.length === 0 ? 'none named' : <Name>{namesOf(named)}</Name>],
    ['Images', totals.images, `on ${plural(totals.multimodal, 'memory', 'memories')}`],
  ]
  return (
    <dl class="tiles">
      {tiles.map(([label, value, beside]) => (
        <div>
          <dt>{label}</dt>
          <dd>
            {count(value)}
            <small>{beside}</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The first names of them. */
const SAID = 3
const namesOf = (named: readonly Counted[]): string => {
  const first = named.slice(0, SAID).map(({ name }) => firstCodePoints(name, 24))
  return named.length > SAID ? `${first.join(', ')} …` : first.join(', ')
}

/** Whether searches find everything, what waits, and how much room there is. */
export function Health({
  visit: { config, services },
  seen: { totals, vectors, suggestion, full },
}: {
  visit: Visit
  seen: Seen
}) {
  const { work, kept, entries } = totals
  const { hosted } = config.embedding
  const waiting = vectors === null ? 0 : entries - vectors.entries
  const stored = totals.entryBytes + kept.bytes + (vectors?.bytes ?? 0)
  const limit = config.quotas.bytes ?? services.health.database.limit ?? null
  return (
    <section class="card">
      <h2>Health</h2>
      {config.fts.enabled ? <Meter label="Found by words" part={totals.indexedEntries} whole={entries} /> : null}
      {vectors === null ? null : <Meter label="Found by meaning" part={vectors.entries} whole={entries} />}
      {limit === null ? (
        <Meter label="Stored" part={0} whole={0} says={bytes(stored)} />
      ) : (
        <Meter
          label="Stored"
          part={stored}
          whole={limit}
          says={`${bytes(stored)} of ${bytes(limit)}`}
          warnsAt={NEARLY_FULL}
        />
      )}
      {hosted !== null && hosted.state !== 'ready' ? <p class="hint">{insteadOf(hosted)}.</p> : null}
      {config.embedding.provider === 'builtin' && waiting > 0 ? (
        <p class="hint">{plural(waiting, 'memory', 'memories')} found by words only until the vectors are made.</p>
      ) : null}
      {suggestion === null ? null : <p class="hint">{suggestion}.</p>}
      {full === null ? null : <p class="hint">{full}.</p>}
      <div class="more soft">
        <p>
          {work.pending === 0 && work.failed === 0
            ? 'No pending work.'
            : `${plural(work.pending, 'piece')} of pending work, ${count(work.failed)} failed.`}
        </p>
        <p>
          {config.history.days === 0
            ? 'History is off.'
            : `${plural(kept.versions, 'older version')} kept for ${config.history.days} days.`}
        </p>
      </div>
    </section>
  )
}
