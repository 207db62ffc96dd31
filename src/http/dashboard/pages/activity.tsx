import { UNFILTERED_FEED } from '../../../domain/history/feed'
import { eventStream } from '../../changes'
import { openPages } from '../../event-stream'
import { ticking } from '../../waiting'
import type { Page } from '../page'
import { Changes } from '../parts/changes'
import { withQuery } from '../parts/words'
import { requireSession } from '../session'
import { principalOf, queryParameter, type Visit } from '../visit'

/** Shows the change feed: the latest changes, and new ones as they happen if scripts run. */
const SHOWN = 100

export async function activity(visit: Visit): Promise<Page> {
  const { services } = visit
  const { changes, next } = await services.changes.latest(principalOf(visit), SHOWN)
  return {
    title: 'Activity',
    at: '/activity',
    body: (
      <section data-feed={withQuery('/activity/stream', { after: next })}>
        <div class="head">
          <h1>Activity</h1>
          <p class="live" role="status">
            <a href="/activity">Load again</a> to see what is new
          </p>
          <p>What agents and people stored, changed and deleted: the last {SHOWN} changes, newest first.</p>
        </div>
        <div class="card">
          <Changes changes={changes} now={services.now()} />
        </div>
      </section>
    ),
  }
}

/** Streams the feed to the script of the page, for the session of the browser. */
export async function activityStream(visit: Visit, lastEventId: string | null): Promise<Response> {
  const { services } = visit
  const principal = principalOf(visit)
  const after = lastEventId ?? queryParameter(visit, 'after') ?? undefined
  const requireOpen = () => requireSession(services, visit.session)
  const pages = await openPages(services, principal, { after, filters: [UNFILTERED_FEED], requireOpen })
  return new Response(ticking(eventStream(services, principal, pages), ':\n\n'), {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
  })
}
