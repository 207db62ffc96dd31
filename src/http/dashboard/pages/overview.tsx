import type { Page } from '../page'
import { Changes } from '../parts/changes'
import { Bars, Days } from '../parts/charts'
import { ProjectLink } from '../parts/common'
import { Clients } from '../parts/connect'
import { count, plain } from '../parts/words'
import { hasRole, type Visit } from '../visit'
import { Beginning } from './beginning'
import { Health, Tiles } from './overview-numbers'
import { DAYS, look, type Seen } from './overview-seen'

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
              Preview a pack
            </a>
          ) : null}
        </div>
        <Full visit={visit} seen={seen} />
      </>
    ),
  }
}
