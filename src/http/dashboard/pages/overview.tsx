import type { Child } from 'hono/jsx'
import { vectorsWarning } from '../../../domain/capacity'
import { insteadOf } from '../../../domain/meaning/hosted-model'
import type { Counted } from '../../../domain/statistics'
import { firstCodePoints } from '../../../domain/text'
import { DAY_MS } from '../../../domain/time'
import { backupHours, isBackupLate } from '../../../domain/transfer/backup-age'
import type { Page } from '../page'
import { Changes } from '../parts/changes'
import { Bars, Days, Meter } from '../parts/charts'
import { EntryLink, Name } from '../parts/common'
import { reviews } from '../parts/frame'
import { bytes, count, entryAt, plain, plural, withQuery } from '../parts/words'
import {
  administers,
  administersAll,
  administratorFor,
  hasRole,
  principalOf,
  queryParameter,
  type Visit,
} from '../visit'
import { EmptyOverview, Setup, type StepsDone } from './beginning'

/** Reads the data of the overview. */
const RANGES = [7, 30, 90] as const
/** Days of the chart without a choice, and of the two weeks that are compared. */
const [DAYS, TWO_WEEKS] = [30, 14]
/** Memories in the list of the most used. */
const MOST_USED = 5
/** Number of newest entries that the charts count, which bounds the rows that the page reads. */
const COUNTED = 10_000
const NAMES = 8
const CHANGES = 5

/** Counts keys that have stored most of their quota today, for their administrators. */
async function keysNearQuota(visit: Visit): Promise<number> {
  const by = administratorFor(visit, 'keys.list')
  return by.kind === 'key' && administers(visit) ? (await visit.services.administration.keysNearQuota(by)).length : 0
}

export async function readOverview(visit: Visit) {
  const { services } = visit
  const principal = principalOf(visit)
  const now = services.now()
  const days = RANGES.find((range) => String(range) === queryParameter(visit, 'days')) ?? DAYS
  const since = now - (now % DAY_MS) - (Math.max(days, TWO_WEEKS) - 1) * DAY_MS
  const isWriter = hasRole(visit, 'writer')
  // Requested together, so that they share a round trip.
  const seesBackups = services.transfer.backups.isBound && administersAll(visit)
  const [totals, vectors, activity, latest, suggestion, sessions, pairs, usage, backups, nearQuota] = await Promise.all(
    [
      services.entries.statistics(principal),
      services.vectorCounts?.(principal) ?? null,
      services.overview.activity(principal, { newest: COUNTED, since, names: NAMES }),
      services.changes.latest(principal, CHANGES),
      services.suggestModel(principal),
      reviews(visit) ? services.capture.review.waiting(principal) : 0,
      isWriter ? services.stalePairs.waiting(principal) : { pairs: 0, contradictions: 0 },
      services.capture.usage.week(principal),
      seesBackups ? services.transfer.backupRun() : null,
      keysNearQuota(visit),
    ],
  )
  const full = vectors && vectorsWarning(vectors.vectors, services.vectorCapacity)
  const mostUsed = usage.mostUsed.slice(0, MOST_USED)
  const isShown = usage.since !== null
  const late = backups !== null && isBackupLate(backups, now) ? { hours: backupHours(backups, now) } : null
  const attention = { sessions, pairs, late, nearQuota }
  return { totals, vectors, activity, latest, suggestion, full, now, days, mostUsed, isShown, ...attention }
}

export type Seen = Awaited<ReturnType<typeof readOverview>>

/** The first steps that the stored data proves. */
const stepsOf = ({ totals, sessions, isShown }: Seen): StepsDone => ({
  connect: totals.bySource.agent > 0 || sessions > 0 || isShown,
  store: totals.entries > 0,
  recall: isShown,
  capture: sessions > 0 || isShown,
})

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
  // In open mode the database is a file of this computer, which has no limit of D1.
  const limit = config.quotas.bytes ?? (config.authMode === 'open' ? null : (services.health.database.limit ?? null))
  return (
    <section class="card">
      <h2>Health</h2>
      {config.fts.enabled ? <Meter label="Found by words" part={totals.indexedEntries} whole={entries} /> : null}
      {vectors === null ? null : <Meter label="Found by meaning" part={vectors.entries} whole={entries} />}
      {limit === null ? (
        <p class="line">
          <span>Stored</span>
          <span class="soft">{bytes(stored)}</span>
        </p>
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

/** Filters of memories without this name. */
const notNamed = (field: string) => ({ field, op: 'not_exists' })
const atAgent = (agent: string) => withQuery('/search', agent === '' ? notNamed('agent_name') : { agent })

interface Waits {
  readonly at: string | null
  readonly count?: number
  /** The noun of one, and of several. */
  readonly label?: readonly string[]
  /** Shown in place of a count. */
  readonly text?: string
}

/** Counts of items that wait for the visitor. Pages of an administrator are linked to those who can open them. */
const Attention = ({ visit, seen: { sessions, pairs, totals, late, nearQuota } }: { visit: Visit; seen: Seen }) => {
  const outdated = pairs.pairs - pairs.contradictions
  const items: readonly Waits[] = [
    ...(late === null
      ? []
      : [
          late.hours === null
            ? { at: '/backups', text: 'No backup was ever completed' }
            : {
                count: Math.floor(late.hours / 24),
                at: '/backups',
                label: ['day since the last backup', 'days since the last backup'],
              },
        ]),
    { count: sessions, at: '/review', label: ['captured session to review', 'captured sessions to review'] },
    {
      count: pairs.contradictions,
      at: '/stale',
      label: ['memory that contradicts a later one', 'memories that contradict a later one'],
    },
    { count: outdated, at: '/stale', label: ['memory that may be outdated', 'memories that may be outdated'] },
    {
      count: totals.work.failed,
      at: administers(visit) ? '/settings' : null,
      label: ['piece of failed work', 'pieces of failed work'],
    },
    { count: nearQuota, at: '/keys', label: ['key near its quota of today', 'keys near their quota of today'] },
  ].filter((item) => item.count !== 0)
  return (
    <section class="card waits">
      <h2>Needs your attention</h2>
      {items.length === 0 ? <p class="soft">Nothing waits for you.</p> : null}
      <ul>
        {items.map((item) => {
          const text = (
            <>
              {item.text ?? (
                <>
                  <strong>{count(item.count ?? 0)}</strong> {item.label?.[item.count === 1 ? 0 : 1]}
                </>
              )}
            </>
          )
          return <li>{item.at === null ? text : <a href={item.at}>{text}</a>}</li>
        })}
      </ul>
    </section>
  )
}

/** Compares this week with the one before. */
const Week = ({ seen: { activity, now } }: { seen: Seen }) => {
  const sum = (from: number, to: number) => {
    const name = (ago: number) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10)
    return activity.days
      .filter((day) => day.name > name(from) && day.name <= name(to))
      .reduce((total, day) => total + day.count, 0)
  }
  const [week, before] = [sum(7, 0), sum(TWO_WEEKS, 7)]
  const first = new Date(now - 6 * DAY_MS).toISOString().slice(0, 10)
  return (
    <p class="soft">
      <a href={withQuery('/search', { from: first })}>{plural(week, 'memory', 'memories')}</a> stored in the last 7
      days, {count(before)} in the 7 days before.
    </p>
  )
}

const MostUsed = ({ seen: { mostUsed, isShown } }: { seen: Seen }) => (
  <section class="card">
    <div class="card-head">
      <h2>Most used this week</h2>
      <a href="/usage">All usage</a>
    </div>
    {mostUsed.length > 0 ? null : (
      <p class="soft">
        {isShown ? 'No session used a memory this week.' : 'Use is recorded once sessions of a client are captured.'}
      </p>
    )}
    <ul class="attention">
      {mostUsed.map(({ memory, use }) => (
        <li data-row data-edit={`${entryAt(memory.id)}/edit`}>
          <EntryLink entry={memory} />
          <span class="soft">{plural(use.used, 'time')}</span>
        </li>
      ))}
    </ul>
  </section>
)

const ByProject = ({ seen: { activity } }: { seen: Seen }) => (
  <Bars
    title="By project"
    of="Project"
    rows={activity.projects}
    label={(project) => project}
    at={(project) => withQuery('/search', project === '' ? notNamed('project') : { project })}
  />
)

/** Shows what is stored, by which agents, and whether it can be found. */
const Counts = ({ seen: { activity } }: { seen: Seen }) => (
  <div class="grid counts">
    {activity.agents.length === 0 ? null : (
      <Bars title="By agent" of="Agent" rows={activity.agents} label={(name) => name} at={atAgent} />
    )}
    <Bars title="By kind" of="Kind" rows={activity.kinds} label={plain} at={(kind) => withQuery('/search', { kind })} />
  </div>
)

const Full = ({ visit, seen }: { visit: Visit; seen: Seen }) => {
  const { activity, latest, now, totals, days } = seen
  return (
    <>
      <Setup visit={visit} done={stepsOf(seen)} stored={totals.entries} />
      <Attention visit={visit} seen={seen} />
      <Tiles seen={seen} />
      <div class="columns">
        <div>
          <section class="card">
            <div class="card-head">
              <h2>Stored</h2>
              <nav class="ranges" aria-label="Range of the chart">
                {RANGES.map((range) => (
                  <a href={withQuery('/', { days: range })} aria-current={range === days ? 'true' : undefined}>
                    {range} days
                  </a>
                ))}
              </nav>
            </div>
            <Days days={activity.days} now={now} length={days} />
            {totals.entries > activity.entries ? (
              <p class="hint">These charts count only the newest {count(activity.entries)} memories.</p>
            ) : null}
          </section>
          <section class="card">
            <div class="card-head">
              <h2>What changed this week</h2>
              <a href="/activity">All activity</a>
            </div>
            <Week seen={seen} />
            <Changes changes={latest.changes} now={now} />
          </section>
        </div>
        <div>
          <MostUsed seen={seen} />
          <Health visit={visit} seen={seen} />
          <ByProject seen={seen} />
        </div>
      </div>
      <Counts seen={seen} />
    </>
  )
}

export async function overview(visit: Visit): Promise<Page> {
  const seen = await readOverview(visit)
  if (seen.totals.entries === 0)
    return { title: 'Welcome', at: '/', body: <EmptyOverview visit={visit} done={stepsOf(seen)} /> }
  return {
    title: 'Overview',
    at: '/',
    body: (
      <>
        <div class="head">
          <h1>Overview</h1>
          <a class="button" href="/connect">
            Connect a client
          </a>
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
