import type { ThreadSummary } from '../../../domain/statistics'
import { firstCodePoints } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import type { Page } from '../page'
import { Facts, Name, Nothing, Pages, Time } from '../parts/common'
import { Field } from '../parts/form'
import { count, plural, threadAt } from '../parts/words'
import { principalOf, queryNumber, queryParameter, type Visit } from '../visit'
import { thread } from './thread'

/** Lists conversations and tasks, the last used first. */
const SIZE = 50
/** Names that a filter returns. */
const FOUND = 100
const DEEPEST = 1_000_000

const Row = ({ of, now }: { of: ThreadSummary; now: Millis }) => (
  <li>
    <p class="title">
      <a href={threadAt(of.threadId)}>
        <Name>{of.threadId}</Name>
      </a>
    </p>
    <Facts>
      <span>{of.multimodal > 0 ? `${count(of.multimodal)} with images` : ''}</span>
      <span>{plural(of.entries, 'memory', 'memories')}</span>
      <Time at={of.lastSecond * 1000} now={now} />
    </Facts>
  </li>
)

const Filter = ({ begins }: { begins: string | null }) => (
  <search>
    <form method="get" action="/threads" class="bar-form">
      <Field name="begins" label="Name starts with" value={begins} />
      <button type="submit">Filter</button>
      {begins === null ? null : (
        <a class="button" href="/threads">
          All threads
        </a>
      )}
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
        {names.length > 0 ? null : (
          <section class="card">
            <Nothing title="No thread name starts with this">
              <p>The filter compares letters exactly, from the start of the name.</p>
            </Nothing>
          </section>
        )}
        <ul class="rows">
          {names.map((name) => (
            <li>
              <p class="title">
                <a href={threadAt(name)}>
                  <Name>{name}</Name>
                </a>
              </p>
            </li>
          ))}
        </ul>
      </div>
    ),
  }
}

export async function threads(visit: Visit): Promise<Page> {
  const id = queryParameter(visit, 'id')
  if (id !== null) return thread(visit, id)
  const begins = queryParameter(visit, 'begins')
  if (begins !== null) return found(visit, begins)
  const { services, url } = visit
  const offset = queryNumber(visit, 'offset', 0, DEEPEST)
  const { threads: rows, total } = await services.entries.threads(principalOf(visit), { limit: SIZE, offset })
  const now = services.now()
  return {
    title: 'Threads',
    at: '/threads',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Threads</h1>
          <p>A thread is a conversation or a task. It groups the memories that agents store under one name.</p>
        </div>
        <Filter begins={null} />
        {rows.length > 0 ? null : (
          <section class="card">
            <Nothing title="No threads yet">
              <p>The first memory that an agent stores under a name creates the thread.</p>
            </Nothing>
          </section>
        )}
        <ul class="rows">
          {rows.map((row) => (
            <Row of={row} now={now} />
          ))}
        </ul>
        <Pages url={url} offset={offset} shown={rows.length} total={total} size={SIZE} />
      </div>
    ),
  }
}
