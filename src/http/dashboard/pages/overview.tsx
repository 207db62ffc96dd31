import type { Child } from 'hono/jsx'
import { vectorsWarning } from '../../../domain/capacity'
import { insteadOf } from '../../../domain/meaning/hosted-model'
import type { Counted } from '../../../domain/statistics'
import { firstCodePoints } from '../../../domain/text'
import { DAY_MS } from '../../../domain/time'
import type { Page } from '../page'
import { Changes } from '../parts/changes'
import { Bars, Days, Meter } from '../parts/charts'
import { Name, ProjectLink } from '../parts/common'
import { Clients } from '../parts/connect'
import { bytes, count, plain, plural } from '../parts/words'
import { hasRole, principalOf, type Visit } from '../visit'
import { EmptyOverview } from './beginning'

/** Reads the data of the overview. */
export const DAYS = 30
/** Number of newest entries that the charts count, which bounds the rows that the page reads. */
const COUNTED = 10_000
const NAMES = 8
const CHANGES = 5

export async function readOverview(visit: Visit) {
  const { services } = visit
  const principal = principalOf(visit)
  const now = services.now()
  const since = now - (now % DAY_MS) - (DAYS - 1) * DAY_MS
  // Requested together, so that they share a round trip.
  const [totals, vectors, activity, latest, suggestion] = await Promise.all([
    services.entries.statistics(principal),
    services.vectorCounts?.(principal) ?? null,
    services.overview.activity(principal, { newest: COUNTED, since, names: NAMES }),
    services.changes.latest(principal, CHANGES),
    services.suggestModel(principal),
  ])
  const full = vectors && vectorsWarning(vectors.vectors, services.vectorCapacity)
  return { totals, vectors, activity, latest, suggestion, full, now }
}

export type Seen = Awaited<ReturnType<typeof readOverview>>

/** The fraction of a limit above which the page warns (operate contract §4). */
const NEARLY_FULL = 0.8

/** Shows totals, and which part of the memories search can find. */
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
  // A meter is shown from half of the limit of the database on, which a machine of one's own may not even reach.
  const own = services.health.database.limit ?? null
  const limit = config.quotas.bytes ?? (own !== null && stored > own / 2 ? own : null)
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
            : `${plural(kept.versions, 'older version')} retained for ${config.history.days} days.`}
        </p>
      </div>
    </section>
  )
}

/** Shows what is stored, by which agents, and whether it can be found. */
const Counts = ({ seen: { activity } }: { seen: Seen }) => (
  <>
    {activity.agents.length === 0 ? null : (
      <Bars title="By agent" of="Agent" rows={activity.agents} label={(name) => name} />
    )}
    <Bars title="By kind" of="Kind" rows={activity.kinds} label={plain} />
    <Bars
      title="By project"
      of="Project"
      rows={activity.projects}
      label={(project) => <ProjectLink project={project} />}
    />
  </>
)

const Full = ({ visit, seen }: { visit: Visit; seen: Seen }) => {
  const { activity, latest, now, totals } = seen
  return (
    <>
      <Tiles seen={seen} />
      <div class="columns">
        <div>
          <section class="card">
            <h2>Stored</h2>
            <Days days={activity.days} now={now} length={DAYS} />
            {totals.entries > activity.entries ? (
              <p class="hint">These charts count only the newest {count(activity.entries)} memories.</p>
            ) : null}
          </section>
          <section class="card">
            <div class="card-head">
              <h2>Newest changes</h2>
              <a href="/activity">All activity</a>
            </div>
            <Changes changes={latest.changes} now={now} />
          </section>
          <section class="card">
            <details>
              <summary>Connect another client</summary>
              <div class="more">
                <Clients of={{ origin: visit.url.origin, open: visit.config.authMode === 'open', key: null }} />
              </div>
            </details>
          </section>
        </div>
        <div>
          <Health visit={visit} seen={seen} />
          <Counts seen={seen} />
        </div>
      </div>
    </>
  )
}

export async function overview(visit: Visit): Promise<Page> {
  const seen = await readOverview(visit)
  if (seen.totals.entries === 0) return { title: 'Welcome', at: '/', body: <EmptyOverview visit={visit} /> }
  return {
    title: 'Overview',
    at: '/',
    body: (
      <>
        <div class="head">
          <h1>Overview</h1>
          {hasRole(visit, 'reader') ? (
            <a class="button" href="/pack">
              Preview a pack
            </a>
          ) : null}
        </div>
        <Full visit={visit} seen={seen} />
      </>
    ),
  }
}
