import { checkThreadId } from '../../../domain/entry/draft'
import { FEED_ACTIONS, type FeedChange, type FeedFilter } from '../../../domain/history/feed'
import { eventStream } from '../../changes'
import { openPages } from '../../event-stream'
import { namedProjectOrNone } from '../../named-project'
import { ticking } from '../../waiting'
import type { Page } from '../page'
import { Changes } from '../parts/changes'
import { Choice, Field } from '../parts/form'
import { dayOf, samePage, withQuery } from '../parts/words'
import { requireSession } from '../session'
import { callerOf, queryParameter, type Visit } from '../visit'

/** Shows the change feed by day, a page at a time; the first page gets new changes as they happen if scripts run. */
const SHOWN = 60

const ACTIONS = [
  ['', 'everything'],
  ['stored', 'stored'],
  ['updated', 'changed'],
  ['deleted', 'deleted'],
] as const

/** The filter in the address. @throws Problem for a project that the key does not reach */
async function filterOf(visit: Visit) {
  const project = queryParameter(visit, 'project')
  const thread = queryParameter(visit, 'thread')
  const action = queryParameter(visit, 'action')
  const named = await namedProjectOrNone(visit.services, callerOf(visit, 'changes'), project)
  const actions = FEED_ACTIONS.filter((one) => one === action)
  const filter: FeedFilter = {
    threadId: thread === null ? null : checkThreadId(thread),
    project: named.project,
    actions: actions.length === 0 ? null : actions,
  }
  return { scope: named.scope, filter, given: { project, thread, action } }
}

type Given = Awaited<ReturnType<typeof filterOf>>['given']

const Filters = ({ of: { project, thread, action } }: { of: Given }) => (
  <search>
    <form method="get" action="/activity" class="bar-form">
      <Choice name="action" label="Show" value={action ?? ''} options={ACTIONS} />
      <Field name="project" label="Project" value={project} />
      <Field name="thread" label="Thread" value={thread} />
      <button type="submit">Filter</button>
      {project === null && thread === null && action === null ? null : (
        <a class="button" href="/activity">
          All activity
        </a>
      )}
    </form>
  </search>
)

/** Groups changes by day, the newest first. The first page has today even without changes, where new ones appear. */
function byDay(
  changes: readonly FeedChange[],
  today: string | null,
): readonly (readonly [string, readonly FeedChange[]])[] {
  const days = new Map<string, FeedChange[]>(today === null ? [] : [[today, []]])
  for (const change of changes) {
    const day = dayOf(change.at)
    days.set(day, [...(days.get(day) ?? []), change])
  }
  return [...days]
}

export async function activity(visit: Visit): Promise<Page> {
  const { services, url } = visit
  const { scope, filter, given } = await filterOf(visit)
  const cursor = queryParameter(visit, 'before')
  const { changes, next } =
    cursor === null
      ? await services.changes.latest(scope, SHOWN, filter)
      : { changes: await services.changes.before(scope, SHOWN, filter, cursor), next: null }
  const last = changes.at(-1)
  const older = changes.length < SHOWN || last === undefined ? null : await services.changes.seal(scope, last.position)
  const now = services.now()
  const today = dayOf(now)
  return {
    title: 'Activity',
    at: '/activity',
    body: (
      <section data-feed={next === null ? undefined : withQuery('/activity/stream', { after: next, ...given })}>
        <div class="head">
          <h1>Activity</h1>
          {next === null ? null : (
            <p class="live" role="status">
              <a href={samePage(url, {})}>Load again</a> to see what is new
            </p>
          )}
          <p>What agents and people stored, changed and deleted, newest first.</p>
        </div>
        <Filters of={given} />
        {byDay(changes, next === null ? null : today).map(([day, some]) => (
          <section class="card" aria-label={day}>
            <h2>{day === today ? 'Today' : day}</h2>
            <Changes changes={some} now={now} isEmptyToday={day === today} />
          </section>
        ))}
        {next === null && changes.length === 0 ? <p class="soft">No older changes.</p> : null}
        <p class="more">
          {cursor === null ? null : (
            <a class="button" href={samePage(url, { before: null })}>
              Newest
            </a>
          )}{' '}
          {older === null ? null : (
            <a class="button" rel="next" href={samePage(url, { before: older })}>
              Older
            </a>
          )}
        </p>
      </section>
    ),
  }
}

/** Streams the feed to the script of the page, for the session of the browser. */
export async function activityStream(visit: Visit, lastEventId: string | null): Promise<Response> {
  const { services } = visit
  const { scope, filter } = await filterOf(visit)
  const after = lastEventId ?? queryParameter(visit, 'after') ?? undefined
  const requireOpen = () => requireSession(services, visit.session)
  const pages = await openPages(services, scope, { after, filters: [filter], requireOpen })
  return new Response(ticking(eventStream(services, scope, pages), ':\n\n'), {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
  })
}
