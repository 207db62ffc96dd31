import type { ThreadSummary } from '../../../domain/report'
import { firstCodePoints } from '../../../domain/text'
import type { Page } from '../page'
import { threadAt } from '../parts/addresses'
import { Facts, Name, Nothing, Pages, Time } from '../parts/common'
import { Field } from '../parts/form'
import { count, plural } from '../parts/words'
import { asked, askedNumber, principalOf, type Visit } from '../visit'
import { thread } from './thread'

/** Conversations and tasks, the last used first. */
const SIZE = 50
/** Names that a filter brings. */
const FOUND = 100
const DEEPEST = 1_000_000

const Row = ({ of, now }: { of: ThreadSummary; now: number }) => (
  <li>
    <p class="title">
      <a href={threadAt(of.threadId)}>
        <Name>{of.threadId}</Name>
      </a>
    </p>
    <Facts>
      <span>{plural(of.entries, 'memory', 'memories')}</span>
      {of.multimodal > 0 ? <span>{count(of.multimodal)} with images</span> : null}
      <span>
        last used <Time at={of.lastSecond * 1000} now={now} />
      </span>
      <span>
        begun <Time at={of.firstSecond * 1000} now={now} />
      </span>
    </Facts>
  </li>
)

const Filter = ({ begins }: { begins: string | null }) => (
  <search>
    <form method="get" action="/threads" class="card">
      <div class="fields">
        <Field name="begins" label="Name begins with" value={begins} />
      </div>
      <p class="actions more">
        <button type="submit">Filter</button>
        {begins === null ? null : <a href="/threads">All threads</a>}
      </p>
    </form>
  </search>
)

async function found(visit: Visit, begins: string): Promise<Page> {
  const names = await visit.services.directory.threadsBeginning(principalOf(visit), firstCodePoints(begins, 256), FOUND)
  return {
    title: 'Threads',
    at: '/threads',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Threads</h1>
        </div>
        <Filter begins={begins} />
        <section class="card">
          {names.length > 0 ? null : <Nothing title="No thread has a name that begins so" />}
          <ul class="list">
            {names.map((name) => (
              <li class="title">
                <a href={threadAt(name)}>
                  <Name>{name}</Name>
                </a>
              </li>
            ))}
          </ul>
        </section>
      </div>
    ),
  }
}

export async function threads(visit: Visit): Promise<Page> {
  const id = asked(visit, 'id')
  if (id !== null) return thread(visit, id)
  const begins = asked(visit, 'begins')
  if (begins !== null) return found(visit, begins)
  const { services, url } = visit
  const offset = askedNumber(visit, 'offset', 0, DEEPEST)
  const { threads: rows, total } = await services.entries.threads(principalOf(visit), { limit: SIZE, offset })
  const now = services.now()
  return {
    title: 'Threads',
    at: '/threads',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Threads</h1>
          <p>Each is a conversation or a task. What agents store under one name stands together.</p>
        </div>
        <Filter begins={null} />
        <section class="card">
          {rows.length > 0 ? null : <Nothing title="No threads yet" />}
          <ul class="list">
            {rows.map((row) => (
              <Row of={row} now={now} />
            ))}
          </ul>
          <Pages url={url} offset={offset} shown={rows.length} total={total} size={SIZE} />
        </section>
      </div>
    ),
  }
}
