import type { Counted } from '../../../domain/report'
import { DAY_MS } from '../../../domain/time'
import { storeContext } from '../../../tools/threads/store-context'
import { callTool } from '../call'
import { type Page, seeOther } from '../page'
import { Changes } from '../parts/changes'
import { Bars, Days, Meter } from '../parts/charts'
import { ProjectLink } from '../parts/common'
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

const Tiles = ({ seen: { totals, activity } }: { seen: Seen }) => {
  const today = activity.days.at(-1)
  const tiles: readonly (readonly [string, number, string])[] = [
    ['Memories', totals.entries, `${count(totals.bySource.user)} said by people`],
    ['Threads', totals.threads, plural(totals.uniqueTags, 'tag')],
    ['Agents', activity.agentCount, activity.agentCount === 0 ? 'none has a name' : 'that have a name'],
    [
      'Images',
      totals.images,
      today === undefined ? 'nothing stored lately' : `on ${plural(totals.multimodal, 'memory', 'memories')}`,
    ],
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
      <div class="more facts-list">
        <div>
          <p>
            {work.pending === 0 && work.failed === 0
              ? 'No work is waiting.'
              : `${plural(work.pending, 'piece')} of work waiting, ${count(work.failed)} failed.`}
          </p>
          <p class="soft">
            {config.history.days === 0
              ? 'History is off.'
              : `${plural(kept.versions, 'older version')} kept for ${config.history.days} days.`}
          </p>
        </div>
      </div>
    </section>
  )
}

const Full = ({ visit, seen }: { visit: Visit; seen: Seen }) => {
  const { activity, latest, now, totals } = seen
  const some = (rows: readonly Counted[]) => rows.length > 0
  return (
    <div class="stack">
      <Tiles seen={seen} />
      <section class="card">
        <h2>Stored in the last {DAYS} days</h2>
        <Days days={activity.days} now={now} length={DAYS} />
        {totals.entries > activity.entries ? (
          <p class="hint">These charts count the newest {count(activity.entries)} memories.</p>
        ) : null}
      </section>
      <section class="card">
        <h2>Newest changes</h2>
        <Changes changes={latest.changes} now={now} />
        <p class="more">
          <a href="/activity">All activity</a>
        </p>
      </section>
      <div class="grid">
        {some(activity.agents) ? (
          <Bars title="By agent" of="Agent" rows={activity.agents} label={(name) => name} />
        ) : null}
        <Bars title="By kind" of="Kind" rows={activity.kinds} label={plain} />
        <Bars
          title="By project"
          of="Project"
          rows={activity.projects}
          label={(project) => <ProjectLink project={project} />}
        />
        <Health visit={visit} seen={seen} />
      </div>
      <section class="card">
        <details>
          <summary>Connect another client</summary>
          <div class="more">
            <Clients of={{ origin: visit.url.origin, open: visit.config.authMode === 'open', key: null }} />
          </div>
        </details>
      </section>
    </div>
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
