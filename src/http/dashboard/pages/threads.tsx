import type { ThreadSummary } from '../../../domain/statistics'
import { firstCodePoints } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import { restoreContext } from '../../../tools/history/restore-context'
import { deleteContextBatch } from '../../../tools/threads/deletion'
import { type Page, seeOther } from '../page'
import { Name, Note, Nothing, Pages, Time } from '../parts/common'
import { Field, PostForm } from '../parts/form'
import { Head, sortOf } from '../parts/table-head'
import { Toast } from '../parts/toast'
import { count, plural, samePage, threadAt, withQuery } from '../parts/words'
import { callTool, hasRole, principalOf, queryNumber, queryParameter, sent, type Visit } from '../visit'
import { thread } from './thread'

/** Lists conversations and tasks, the last used first. */
const SIZE = 50
const DEEPEST = 1_000_000
/** Code points of a filter. */
const LONGEST = 256
/** Threads that one form deletes. */
const MOST_DELETED = 50

const Row = ({ of, now, mayDelete }: { of: ThreadSummary; now: Millis; mayDelete: boolean }) => (
  <tr data-row>
    {mayDelete ? (
      <td class="tick">
        <label>
          <input type="checkbox" name="pick" value={of.threadId} form="selected" />
          <span class="hidden">
            Select <Name>{of.threadId}</Name>
          </span>
        </label>
      </td>
    ) : null}
    <th scope="row">
      <a href={threadAt(of.threadId)} data-open>
        <Name>{of.threadId}</Name>
      </a>
    </th>
    <td class="num">
      {count(of.entries)}
      <span class="unit"> {of.entries === 1 ? 'memory' : 'memories'}</span>
    </td>
    <td class="num soft wide-only">{of.multimodal > 0 ? count(of.multimodal) : ''}</td>
    <td class="num soft wide-only">
      <Time at={of.firstSecond * 1000} now={now} />
    </td>
    <td class="num soft">
      <Time at={of.lastSecond * 1000} now={now} />
    </td>
  </tr>
)

const Filter = ({ contains, sort }: { contains: string | null; sort: string }) => (
  <search>
    <form method="get" action="/threads" class="bar-form">
      <Field name="contains" label="Name contains" value={contains} />
      {sort === 'last' ? null : <input type="hidden" name="sort" value={sort} />}
      <button type="submit">Filter</button>
      {contains === null ? null : (
        <a class="button" href="/threads">
          All threads
        </a>
      )}
    </form>
  </search>
)

/** Reports a deletion, with its undo. */
function Done({ visit }: { visit: Visit }) {
  const [done, change] = [queryParameter(visit, 'done'), queryParameter(visit, 'change')]
  if (done === 'none') return <Note bad>Nothing was deleted: select at least one thread.</Note>
  if (done === 'restored') return <Toast>The memories were restored.</Toast>
  if (done === null || !/^\d{1,6}$/.test(done)) return null
  return (
    <Toast>
      <span>{plural(Number(done), 'memory was', 'memories were')} deleted.</span>
      {change === null ? null : (
        <PostForm action="/threads/undo" token={visit.formToken}>
          <input type="hidden" name="change" value={change} />
          <button type="submit" class="small">
            Undo
          </button>
        </PostForm>
      )}
    </Toast>
  )
}

interface ListProps {
  readonly visit: Visit
  readonly rows: readonly ThreadSummary[]
  readonly sort: string
}

function List({ visit, rows, sort }: ListProps) {
  const mayDelete = hasRole(visit, 'writer')
  const columns = [
    { name: 'Thread', sort: 'name' },
    { name: 'Memories', sort: 'entries', isNumber: true },
    { name: 'With images', isNumber: true, isWide: true },
    { name: 'First', isNumber: true, isWide: true },
    { name: 'Last use', sort: 'last', isNumber: true },
  ]
  return (
    <section class="card records" id="list">
      <table class={mayDelete ? 'ticked' : undefined}>
        <Head
          url={visit.url}
          columns={mayDelete ? [{ name: 'Select', isHidden: true }, ...columns] : columns}
          sort={sort}
        />
        <tbody>
          {rows.map((row) => (
            <Row of={row} now={visit.services.now()} mayDelete={mayDelete} />
          ))}
        </tbody>
      </table>
      {mayDelete ? (
        <PostForm action="/threads/delete" token={visit.formToken} id="selected" class="actions more">
          <button type="submit" class="bad">
            Delete selected
          </button>
          <span class="soft">Deletes their memories too. You can undo this.</span>
        </PostForm>
      ) : null}
    </section>
  )
}

export async function threads(visit: Visit): Promise<Page> {
  const id = queryParameter(visit, 'id')
  if (id !== null) return thread(visit, id)
  const { services, url } = visit
  // Links of earlier versions have the filter under its old name.
  const contains = queryParameter(visit, 'contains') ?? queryParameter(visit, 'begins')
  const sort = sortOf(url, ['last', 'entries', 'name'])
  const offset = queryNumber(visit, 'offset', 0, DEEPEST)
  const { threads: rows, total } = await services.entries.threads(principalOf(visit), {
    ...{ limit: SIZE, offset, order: sort },
    contains: contains === null ? null : firstCodePoints(contains, LONGEST),
  })
  return {
    title: 'Threads',
    at: '/threads',
    ...(rows.length > 0 ? { list: 'Skip to the threads' } : {}),
    body: (
      <div class="stack">
        <Done visit={visit} />
        <div class="head">
          <h1>Threads</h1>
          <p>
            {contains === null ? plural(total, 'thread') : `${plural(total, 'thread')} with “${contains}”`}. A thread is
            a conversation or a task. It groups the memories that agents store under one name.
          </p>
        </div>
        <Filter contains={contains} sort={sort} />
        {rows.length > 0 ? (
          <List visit={visit} rows={rows} sort={sort} />
        ) : (
          <section class="card">
            {contains === null ? (
              <Nothing title="No threads yet">
                <p>The first memory that an agent stores under a name creates the thread.</p>
              </Nothing>
            ) : (
              <Nothing title={`No thread name contains “${contains}”`}>
                <p>The filter compares letters exactly. Capital letters differ from small ones.</p>
              </Nothing>
            )}
          </section>
        )}
        <Pages url={url} offset={offset} shown={rows.length} total={total} size={SIZE} />
      </div>
    ),
  }
}

/** Deletes the selected threads by one call, so that one undo restores all of them. */
export async function deleteThreads(visit: Visit): Promise<Response> {
  const picked = visit.form.getAll('pick').slice(0, MOST_DELETED)
  if (picked.length === 0) return seeOther(withQuery('/threads', { done: 'none' }))
  const { deleted_count: deleted, change_id: change } = await callTool(visit, deleteContextBatch, {
    thread_ids: picked,
  })
  const isKept = visit.config.history.days > 0 && typeof change === 'string'
  return seeOther(withQuery('/threads', { done: String(deleted), change: isKept ? change : null }))
}

export async function undoThreads(visit: Visit): Promise<Response> {
  await callTool(visit, restoreContext, { change_id: sent(visit, 'change') ?? '' })
  return seeOther(samePage(new URL('/threads', visit.url), { done: 'restored' }))
}
