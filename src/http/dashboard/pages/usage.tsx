import { UNUSED_MS } from '../../../domain/capture/hook-event'
import type { NamedMemory, UseOfMemory } from '../../../domain/capture/usage'
import { titleOf } from '../../../domain/entry/title'
import { invalidInput } from '../../../domain/errors'
import type { Millis } from '../../../domain/time'
import type { MemoryWithUse } from '../../../services/capture/memory-usage'
import { type Page, seeOther } from '../page'
import { EntryLink, Facts, KindLabel, Name, Note, Nothing, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { reviews } from '../parts/frame'
import { entryAt, plural } from '../parts/words'
import { principalOf, queryParameter, sent, type Visit } from '../visit'
import { pairs, reviewing } from './review'

/** How often sessions used a memory, and who did last; nothing where no session was shown it. */
export const Used = ({ use, now }: { use: UseOfMemory; now: Millis }) => {
  const { shown, used, contradicted, last } = use
  return (
    <>
      {last === null ? null : (
        <span>
          used {plural(used, 'time')}, last by <Name>{last.client}</Name> <Time at={last.at} now={now} />
        </span>
      )}
      {last !== null || shown === 0 ? null : <span>shown {plural(shown, 'time')}, not used</span>}
      {contradicted === 0 ? null : <span>contradicted {plural(contradicted, 'time')}</span>}
    </>
  )
}

/** Which memories sessions used, which they contradicted, and which no session used for 90 days. */

/** Memories that one form archives: as many as the page lists. */
const MOST_ARCHIVED = 20

const About = ({ memory, now }: { memory: NamedMemory; now: Millis }) => (
  <>
    <KindLabel kind={memory.kind} />
    {memory.project === null ? null : <ProjectLink project={memory.project} />}
    <Time at={memory.createdAt} now={now} />
  </>
)

const List = ({ title, of, now }: { title: string; of: readonly MemoryWithUse[]; now: Millis }) =>
  of.length === 0 ? null : (
    <section class="card">
      <h2>{title}</h2>
      <ul class="picks">
        {of.map(({ memory, use }) => (
          <li data-row data-edit={`${entryAt(memory.id)}/edit`}>
            <EntryLink entry={memory} />
            <Facts>
              <About memory={memory} now={now} />
              <Used use={use} now={now} />
            </Facts>
          </li>
        ))}
      </ul>
    </section>
  )

const Unused = ({ visit, of }: { visit: Visit; of: readonly NamedMemory[] }) => {
  const now = visit.services.now()
  return (
    <section class="card">
      <h2>Not used for 90 days</h2>
      <p>
        Sessions did not open or quote these memories, and did not change their files. Archive a memory to take it out
        of lists and searches. It stays readable by its ID.
      </p>
      <PostForm action="/usage/archive" token={visit.formToken} class="stack-form">
        <ul class="picks">
          {of.map((memory) => (
            <li data-row data-edit={`${entryAt(memory.id)}/edit`}>
              {reviews(visit) ? (
                <label>
                  <input type="checkbox" name="pick" value={`${memory.id}-${memory.version}`} />
                  <Name>{titleOf(memory) || `Memory ${memory.id}`}</Name>
                </label>
              ) : null}
              <Facts>
                {reviews(visit) ? <a href={entryAt(memory.id)}>Open</a> : <EntryLink entry={memory} />}
                <About memory={memory} now={now} />
              </Facts>
            </li>
          ))}
        </ul>
        {reviews(visit) ? (
          <p>
            <button type="submit" name="do" value="archive">
              Archive ticked
            </button>
          </p>
        ) : null}
      </PostForm>
    </section>
  )
}

/** Names the memories that were just archived, with a form to list them again. */
const Done = ({ visit }: { visit: Visit }) => {
  const picked = visit.url.searchParams.getAll('pick').filter((pick) => /^\d{1,15}-\d{1,15}$/.test(pick))
  const done = queryParameter(visit, 'done')
  if (done === 'back') return <Note>The memories are listed again.</Note>
  if (done !== 'archived' || picked.length === 0) return null
  return (
    <Note>
      <span>
        Archived{' '}
        {picked.map((pick, i) => {
          const id = pick.split('-')[0] ?? ''
          return (
            <>
              {i === 0 ? '' : ', '}
              <a href={entryAt(id)}>memory {id}</a>
            </>
          )
        })}
        .
      </span>
      <PostForm action="/usage/archive" token={visit.formToken}>
        {picked.map((pick) => (
          <input type="hidden" name="pick" value={pick} />
        ))}
        <button type="submit" name="do" value="back" class="small">
          Undo
        </button>
      </PostForm>
    </Note>
  )
}

export async function usage(visit: Visit): Promise<Page> {
  const { mostUsed, contradicted, unused, since } = await visit.services.capture.usage.week(principalOf(visit))
  const now = visit.services.now()
  const isShort = since !== null && since > now - UNUSED_MS
  return {
    title: 'Usage',
    at: '/usage',
    body: (
      <>
        <div class="head">
          <h1>Usage</h1>
          <p>
            {since === null
              ? 'Sessions of clients with capture show which memories they use.'
              : 'Memories that sessions used, as the hooks of their clients show it. Usage does not change the order of a search.'}
          </p>
        </div>
        <Done visit={visit} />
        {since !== null ? null : (
          <section class="card">
            <Nothing title="No usage recorded yet">
              <p>
                Install the hooks of a client: <code>commonplace setup claude-code --capture</code>
              </p>
            </Nothing>
          </section>
        )}
        <List title="Most used this week" of={mostUsed} now={now} />
        <List title="Contradicted" of={contradicted} now={now} />
        {unused.length === 0 ? null : <Unused visit={visit} of={unused} />}
        {isShort ? (
          <p class="soft">
            Use is recorded since <Time at={since} now={now} />. Memories that no session used for 90 days are listed
            from <Time at={since + UNUSED_MS} now={now} /> on.
          </p>
        ) : null}
      </>
    ),
  }
}

/** Archives the ticked memories, or restores them. */
export async function archive(visit: Visit): Promise<Response> {
  const picked = [...new Map(pairs(visit, 'pick'))]
  if (picked.length === 0 || picked.length > MOST_ARCHIVED)
    throw invalidInput(`Tick 1 to ${MOST_ARCHIVED} memories of the list, then choose Archive`)
  const isBack = sent(visit, 'do') === 'back'
  await reviewing(visit, isBack ? 'memory.unarchive' : 'memory.archive', async (caller) => {
    await visit.services.capture.usage.archive(caller, picked, !isBack)
    await visit.services.administration.note(
      caller,
      true,
      { memories: picked.length },
      picked.map(([id]) => id),
    )
  })
  visit.services.afterwards(visit.services.maintenance.work())
  if (isBack) return seeOther('/usage?done=back')
  const query = new URLSearchParams([['done', 'archived'], ...picked.map((one) => ['pick', one.join('-')])])
  return seeOther(`/usage?${query}`)
}
