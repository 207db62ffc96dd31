import type { Child } from 'hono/jsx'
import type { Counted } from '../../../domain/report'
import { firstCodePoints } from '../../../domain/text'
import { DAY_MS } from '../../../domain/time'
import { storeContext } from '../../../tools/threads/store-context'
import { callTool } from '../call'
import { type Page, seeOther } from '../page'
import { Changes } from '../parts/changes'
import { Bars, Days, Meter } from '../parts/charts'
import { Name, ProjectLink } from '../parts/common'
import { Clients } from '../parts/connect'
import { bytes, count, plain, plural } from '../parts/words'
import { hasRole, principalOf, type Visit } from '../visit'
import { Beginning } from './beginning'

/** What is stored, by whom, and whether it is found. */
const DAYS = 30
/** Entries that the charts count: the newest so many, which bounds the rows that a look at the page reads. */
const COUNTED = 10_000
const NAMES = 8
const CHANGES = 5
/** What a database of D1 holds at most (developers.cloudflare.com/d1/platform/limits). */
const D1_BYTES = 10_000_000_000
/** The share of a limit from which on it is told as too much (operate contract §4). */
const NEARLY_FULL = 0.8

async function look(visit: Visit) {
  const { services } = visit
  const principal = principalOf(visit)
  const now = services.now()
  const since = now - (now % DAY_MS) - (DAYS - 1) * DAY_MS
  // Asked for in one moment, so that they share a round trip.
  const [totals, vectors, activity, latest] = await Promise.all([
    services.entries.statistics(principal),
    services.vectorCounts?.(principal) ?? null,
    services.overview.activity(principal, { newest: COUNTED, since, names: NAMES }),
    services.changes.latest(principal, CHANGES),
  ])
  return { totals, vectors, activity, latest, now }
}

type Seen = Awaited<ReturnType<typeof look>>

const Tiles = ({ seen: { totals, activity, now } }: { seen: Seen }) => {
  const today = new Date(now).toISOString().slice(0, 10)
  const stored = activity.days.find(({ name }) => name === today)?.count ?? 0
  const named = activity.agents.filter(({ name }) => name !== '')
  const tiles: readonly (readonly [string, number, Child])[] = [
    ['Memories', totals.entries, stored === 0 ? 'none stored today' : `${count(stored)} stored today`],
    ['Threads', totals.threads, plural(totals.uniqueTags, 'tag')],
    ['Agents', activity.agentCount, named.length === 0 ? 'none has a name' : <Name>{namesOf(named)}</Name>],
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

/** The first of them by name. */
const SAID = 3
const namesOf = (named: readonly Counted[]): string => {
  const first = named.slice(0, SAID).map(({ name }) => firstCodePoints(name, 24))
  return named.length > SAID ? `${first.join(', ')} …` : first.join(', ')
}

/** Whether searches find everything, what waits, and how much room there is. */
function Health({ visit: { config }, seen: { totals, vectors } }: { visit: Visit; seen: Seen }) {
  const { work, kept, entries } = totals
  const stored = totals.entryBytes + kept.bytes + (vectors?.bytes ?? 0)
  const limit = config.quotas.bytes ?? (config.storageBackend === 'sqlite' ? D1_BYTES : null)
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
      <div class="more soft">
        <p>
          {work.pending === 0 && work.failed === 0
            ? 'No work is waiting.'
            : `${plural(work.pending, 'piece')} of work waiting, ${count(work.failed)} failed.`}
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
              <p class="hint">These charts count the newest {count(activity.entries)} memories.</p>
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
  const seen = await look(visit)
  if (seen.totals.entries === 0) return { title: 'Welcome', at: '/', body: <Beginning visit={visit} /> }
  return {
    title: 'Overview',
    at: '/',
    body: (
      <>
        <div class="head">
          <h1>Overview</h1>
          {hasRole(visit, 'reader') ? (
            <a class="button" href="/pack">
              See what an agent gets
            </a>
          ) : null}
        </div>
        <Full visit={visit} seen={seen} />
      </>
    ),
  }
}

/** A first memory, so that everything else has something to show. */
const FIRST = `This memory was stored from the dashboard. Agents that connect to this server read it, and write their own beside it:
decisions, conventions, what went wrong and how it was mended.`

export async function storeFirst(visit: Visit): Promise<Response> {
  const { context_id: id } = await callTool(visit, storeContext, {
    thread_id: 'welcome',
    source: 'user',
    text: FIRST,
    tags: ['welcome'],
    metadata: { kind: 'note', title: 'Our first memory' },
  })
  return seeOther(`/entries/${Number(id)}`)
}
