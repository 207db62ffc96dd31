import { checkThreadId } from '../../../domain/entry/draft'
import {
  FEED_ACTIONS,
  type FeedAction,
  type FeedChange,
  type FeedFilter,
  UNFILTERED_FEED,
} from '../../../domain/history/feed'
import type { Principal } from '../../../domain/identity/scope'
import { DAY_MS, type Millis } from '../../../domain/time'
import { eventStream } from '../../changes'
import { openPages, type Pages } from '../../event-stream'
import { namedProjectOrNone } from '../../named-project'
import { ticking } from '../../waiting'
import type { Page } from '../page'
import { Changes } from '../parts/changes'
import { Nothing } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { day, samePage } from '../parts/words'
import { requireSession } from '../session'
import { hasRole, principalOf, queryParameter, type Visit } from '../visit'

/** Shows the change feed, newest first, grouped by day, and new changes as they happen if scripts run. */
const SHOWN = 60

const ACTIONS = [
  ['', 'all'],
  ['stored', 'stored'],
  ['updated', 'changed'],
  ['deleted', 'deleted'],
] as const

interface Wanted {
  readonly scope: Principal
  readonly filter: FeedFilter
  readonly agent: string | null
  /** Only for administrators, who see the keys. */
  readonly keyId: string | null
}

/** Reads the filter from the address. The guard refuses parameters named like keys, so the ID of a key has another name. */
async function readWanted(visit: Visit): Promise<Wanted> {
  const action = queryParameter(visit, 'action')
  const thread = queryParameter(visit, 'thread')
  const actions = FEED_ACTIONS.filter((one): one is FeedAction => one === action)
  const { scope, project } = await namedProjectOrNone(
    visit.services,
    principalOf(visit),
    queryParameter(visit, 'project'),
  )
  return {
    scope,
    filter: {
      threadId: thread === null ? null : checkThreadId(thread),
      project,
      actions: actions.length === 0 ? null : actions,
    },
    agent: queryParameter(visit, 'agent'),
    keyId: hasRole(visit, 'admin') ? queryParameter(visit, 'by') : null,
  }
}

const FILTERS = ['project', 'agent', 'thread', 'action', 'by'] as const

const Filters = ({ visit }: { visit: Visit }) => {
  const value = (name: (typeof FILTERS)[number]) => queryParameter(visit, name)
  return (
    <search>
      <form method="get" action="/activity" class="bar-form">
        <Field name="agent" label="Person or agent" value={value('agent')} suggest />
        <Field name="project" label="Project" value={value('project')} suggest />
        <Field name="thread" label="Thread" value={value('thread')} suggest />
        <Choice name="action" label="Change" value={value('action')} options={ACTIONS} />
        {value('by') === null ? null : <Field name="by" label="Key" value={value('by')} />}
        <button type="submit">Filter</button>
        {FILTERS.every((name) => value(name) === null) ? null : (
          <a class="button" href="/activity">
            All activity
          </a>
        )}
      </form>
    </search>
  )
}

const startOf = (at: Millis): number => Math.floor(at / DAY_MS)

function nameOf(at: Millis, now: Millis): string {
  const days = startOf(now) - startOf(at)
  return days === 0 ? 'Today' : days === 1 ? 'Yesterday' : day(at, now)
}

/** Groups changes by their day in UTC. The first group is today's if new changes are added to it. */
function byDay(changes: readonly FeedChange[], now: Millis, isLive: boolean) {
  const groups: { at: Millis; changes: FeedChange[] }[] = isLive ? [{ at: now, changes: [] }] : []
  for (const change of changes) {
    const last = groups.at(-1)
    if (last !== undefined && startOf(last.at) === startOf(change.at)) last.changes.push(change)
    else groups.push({ at: change.at, changes: [change] })
  }
  return groups
}

const Group = ({ name, changes, now }: { name: string; changes: readonly FeedChange[]; now: Millis }) => (
  <section class="card day-group">
    <h2>{name}</h2>
    {changes.length === 0 ? <ol class="changes" /> : <Changes changes={changes} now={now} />}
  </section>
)

const LiveStatus = ({ url }: { url: URL }) => (
  <p class="live" role="status">
    <a href={samePage(url, {})}>Load again</a> to see what is new
  </p>
)

export async function activity(visit: Visit): Promise<Page> {
  const { services, url } = visit
  const { scope, filter, agent, keyId } = await readWanted(visit)
  const before = queryParameter(visit, 'before')
  const { changes, next, older } = await services.changes.newest(scope, {
    ...{ before, limit: SHOWN },
    filter,
    agent,
    keyId,
  })
  const now = services.now()
  // The feed does not name keys, and an older page has no newest change.
  const isLive = before === null && keyId === null
  const stream = samePage(new URL(`/activity/stream${url.search}`, url), { after: next })
  return {
    title: 'Activity',
    at: '/activity',
    list: 'Skip to the changes',
    body: (
      <section class="stack" data-feed={isLive ? stream : undefined}>
        <div class="head">
          <h1>Activity</h1>
          {isLive ? <LiveStatus url={url} /> : null}
          <p>
            Memories that agents and people stored, changed and deleted, newest first.
            {hasRole(visit, 'writer') ? (
              <>
                {' '}
                <a href="/deleted">Deleted memories</a> can be restored.
              </>
            ) : null}
          </p>
        </div>
        <Filters visit={visit} />
        {changes.length > 0 ? null : (
          <div class="card nothing-yet">
            <Nothing title={older === null ? 'No changes' : 'No matching change among the newest 2,000'}>
              <p>
                {FILTERS.some((name) => queryParameter(visit, name) !== null)
                  ? 'Remove a filter, or look at older changes.'
                  : 'Everything that agents and people store, change or delete is listed here.'}
              </p>
            </Nothing>
          </div>
        )}
        <div id="list" class="stack">
          {byDay(changes, now, isLive).map((group) => (
            <Group name={nameOf(group.at, now)} changes={group.changes} now={now} />
          ))}
        </div>
        <nav class="pages" aria-label="Pages of this list">
          {before === null ? (
            <span />
          ) : (
            <a class="button" href={samePage(url, { before: null })}>
              Newest
            </a>
          )}
          {older === null ? (
            <span />
          ) : (
            <a class="button" rel="next" href={samePage(url, { before: older })}>
              Older
            </a>
          )}
        </nav>
      </section>
    ),
  }
}

/** Limits the pages of a stream to the changes of one agent. */
function ofAgent(pages: Pages, agent: string | null): Pages {
  if (agent === null) return pages
  const only = <P extends Pages['first'] | null>(page: P): P =>
    page === null ? page : { ...page, changes: page.changes.filter((change) => change.agent === agent) }
  return { first: only(pages.first), next: async () => only(await pages.next()), close: () => pages.close() }
}

/** Streams the feed to the script of the page, for the session of the browser. */
export async function activityStream(visit: Visit, lastEventId: string | null): Promise<Response> {
  const { services } = visit
  const { scope, filter, agent } = await readWanted(visit)
  const after = lastEventId ?? queryParameter(visit, 'after') ?? undefined
  const requireOpen = () => requireSession(services, visit.session)
  const isAll = filter.threadId === null && filter.project === null && filter.actions === null
  const pages = await openPages(services, scope, { after, filters: [isAll ? UNFILTERED_FEED : filter], requireOpen })
  return new Response(ticking(eventStream(services, scope, ofAgent(pages, agent)), ':\n\n'), {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
  })
}
