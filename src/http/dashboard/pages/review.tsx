import {
  type AddressingEntry,
  cursorAfter,
  placeOfCursor,
  type Reviewed,
  type ReviewedEntry,
  readChangeId,
  toChangeId,
} from '../../../domain/capture/review'
import type { Entry } from '../../../domain/entry/entry'
import { readId } from '../../../domain/entry/link'
import { invalidInput, Problem } from '../../../domain/errors'
import type { Caller } from '../../../domain/identity/scope'
import { requireRole } from '../../auth'
import { namedProjectOrNone } from '../../named-project'
import { type Page, seeOther } from '../page'
import { Facts, Name, Note, Nothing, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { Markdown } from '../parts/markdown'
import { entryAt, plural, samePage } from '../parts/words'
import { callerOf, principalOf, queryNumber, queryParameter, sent, type Visit } from '../visit'
import { ApproveForm, Drop, HiddenFields, Merge } from './review-forms'
import { Readers, Waiting } from './review-list'

/** Reports the last review action, with its undo. */

const DONE = new Map(
  Object.entries({
    keep: 'Approved: agents can now find it.',
    merge: 'Merged into one memory.',
    drop: 'Dropped.',
    approve: 'Approved: hooks now include it.',
    undo: 'Undone.',
  }),
)

export const Done = ({ visit }: { visit: Visit }) => {
  const undoable = visit.url.searchParams.getAll('change').length
  const said = DONE.get(queryParameter(visit, 'done') ?? '')
  if (said === undefined && undoable === 0) return null
  const made = queryNumber(visit, 'made', 0, Number.MAX_SAFE_INTEGER)
  return (
    <Note>
      <span>
        {said ?? ''} {made === 0 ? null : <a href={entryAt(made)}>Memory {made}</a>}
      </span>
      {undoable === 0 ? null : (
        <PostForm action="/review/undo" token={visit.formToken} shortcut="u">
          <HiddenFields visit={visit} />
          <button type="submit" class="small">
            Undo <kbd>u</kbd>
          </button>
        </PostForm>
      )}
    </Note>
  )
}
/** Handles the forms of a review. The address lists the changes that can be undone, newest last, and each form passes them on. */
const MOST_UNDONE = 20

/** Calls the service of a review as the API does. @throws Problem forbidden for a reader, which is logged */
export async function reviewing<T>(visit: Visit, action: string, step: (caller: Caller) => Promise<T>): Promise<T> {
  const caller: Caller = { ...callerOf(visit, action), tool: null }
  try {
    requireRole(caller, 'writer')
    return await step(caller)
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden')
      await visit.services.administration.note(caller, false, { denied: 1 })
    throw error
  }
}

interface Outcome {
  readonly done: string
  /** The memory that was created or approved. */
  readonly made: number | null
  /** The changes that can be undone now. */
  readonly changes: readonly string[]
}

/** Redirects to the review, which shows the next session. */
function onwards(visit: Visit, { done, made, changes }: Outcome): Response {
  const query = new URLSearchParams({ done, ...(made === null ? {} : { made: String(made) }) })
  // After an undo, the review starts with that session again.
  for (const name of ['project', 'client', ...(done === 'undo' ? [] : ['after'])]) {
    const value = sent(visit, name)
    if (value !== null) query.set(name, value)
  }
  for (const change of changes.slice(-MOST_UNDONE)) query.append('change', change)
  visit.services.afterwards(visit.services.maintenance.work())
  return seeOther(`/review?${query}`)
}

const changesOf = ({ form }: Visit): string[] => form.getAll('change')

const withNew = (visit: Visit, reviewed: Reviewed): string[] => [...changesOf(visit), toChangeId(reviewed)]

/** Reads the session of a form, at the version that was shown. @throws Problem invalid_input */
function seen(visit: Visit): { readonly id: number; readonly version: number } {
  const [id, version] = [readId(sent(visit, 'id')), readId(sent(visit, 'version'))]
  if (id === null || version === null) throw invalidInput('The form does not name an entry; reload the page')
  return { id, version }
}

/** Entries that a form names, each with the version that was seen: `<id>-<version>`. */
export const pairs = ({ form }: Visit, name: string) =>
  form.getAll(name).flatMap((value) => {
    const [, id, version] = /^(\d{1,15})-(\d{1,15})$/.exec(value) ?? []
    return id === undefined || version === undefined ? [] : [[Number(id), Number(version)] as const]
  })

export async function approveSession(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  const { reviewed } = await reviewing(visit, 'captured.keep', (caller) =>
    visit.services.capture.review.keep(caller, id, {
      kind: sent(visit, 'other-kind') ?? sent(visit, 'kind') ?? undefined,
      title: sent(visit, 'title') ?? undefined,
      expectedVersion: version,
    }),
  )
  return onwards(visit, { done: 'keep', made: id, changes: withNew(visit, reviewed) })
}

/** Approves a version of a memory, from the review or from the page of the memory. */
export async function approve(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  await reviewing(visit, 'memory.approve', (caller) => visit.services.capture.review.approve(caller, id, version))
  if (sent(visit, 'back') === 'entry') return seeOther(`${entryAt(id)}?done=approved`)
  return onwards(visit, { done: 'approve', made: id, changes: changesOf(visit) })
}

export async function drop(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  const reviewed = await reviewing(visit, 'captured.drop', (caller) =>
    visit.services.capture.review.drop(caller, [id], { [String(id)]: version }),
  )
  return onwards(visit, { done: 'drop', made: null, changes: withNew(visit, reviewed) })
}

export async function merge(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  const all = [[id, version] as const, ...pairs(visit, 'with')]
  const made = await reviewing(visit, 'captured.merge', (caller) =>
    visit.services.capture.review.merge(caller, {
      ids: [...new Set(all.map(([one]) => one))],
      kind: sent(visit, 'merged-kind') ?? 'note',
      title: sent(visit, 'merged-title') ?? '',
      content: sent(visit, 'content') ?? undefined,
      expectedVersions: Object.fromEntries(all),
    }),
  )
  return onwards(visit, { done: 'merge', made: made.id, changes: withNew(visit, made.reviewed) })
}

/** Approves or drops the sessions and proposals that are ticked in the list. */
export async function several(visit: Visit): Promise<Response> {
  const picked = new Map(pairs(visit, 'pick'))
  const ids = [...picked.keys()]
  if (ids.length === 0) throw invalidInput('Tick at least one session of the list, then choose Approve or Drop')
  const versions = Object.fromEntries(picked)
  const { review } = visit.services.capture
  const isDrop = sent(visit, 'do') === 'drop'
  const reviewed = isDrop
    ? await reviewing(visit, 'captured.drop', (caller) => review.drop(caller, ids, versions))
    : await reviewing(visit, 'captured.keep', (caller) => review.keepAll(caller, ids, versions))
  return onwards(visit, { done: isDrop ? 'drop' : 'keep', made: null, changes: withNew(visit, reviewed) })
}

/** Undoes the newest of these changes. */
export async function undo(visit: Visit): Promise<Response> {
  const changes = changesOf(visit)
  const last = changes.pop()
  const reviewed = readChangeId(last)
  await reviewing(visit, 'captured.undo', (caller) => visit.services.capture.review.undo(caller, reviewed))
  return onwards(visit, { done: 'undo', made: null, changes })
}

/** Shows captured sessions one at a time, to approve, merge or drop; each action can be undone exactly. */
const SIZE = 50
const MOST_ADDRESSING = 20

interface OneProps {
  readonly visit: Visit
  readonly of: ReviewedEntry
  readonly entry: Entry | undefined
  readonly others: readonly ReviewedEntry[]
}

const One = ({ visit, of, entry, others }: OneProps) => {
  const now = visit.services.now()
  const text = entry?.text ?? of.preview
  return (
    <div class="columns">
      <div>
        <article class="card">
          <h2>
            <a class="quiet" href={entryAt(of.id)}>
              <Name>{of.title ?? `Session ${of.id}`}</Name>
            </a>
          </h2>
          <Facts>
            {of.client === null ? null : <Name>{of.client}</Name>}
            {of.sources.map((place) => (
              <Name>{place}</Name>
            ))}
            <Readers of={of} />
            {of.project === null ? null : <ProjectLink project={of.project} />}
            {of.branch === null ? null : <Name>{of.branch}</Name>}
            <Time at={of.updatedAt} now={now} />
            {of.expiresAt === null ? null : (
              <span>
                expires <Time at={of.expiresAt} now={now} />
              </span>
            )}
          </Facts>
          <div class="text-of more">
            <Markdown text={text} />
          </div>
        </article>
        <Merge visit={visit} of={of} others={others} text={text} />
      </div>
      <div class="beside card">
        <ApproveForm visit={visit} of={of} />
        <hr />
        <div class="actions">
          <Drop visit={visit} of={of} />
          <a class="button" href={samePage(visit.url, { after: cursorAfter(of), done: null, made: null })} data-key="l">
            Later <kbd>l</kbd>
          </a>
        </div>
      </div>
    </div>
  )
}

/** Lists memories that hooks leave out, because their texts address an agent. */
const Addressing = ({ visit, entries }: { visit: Visit; entries: readonly AddressingEntry[] }) => (
  <section class="card" id="addressing">
    <h2>{visit.config.packTrust === 'approved' ? 'Memories waiting for approval' : 'Texts that address an agent'}</h2>
    <p>
      {visit.config.packTrust === 'approved'
        ? 'Packs and hooks contain only memories that a person wrote or approved. '
        : 'These memories look like instructions for an agent. Hooks do not send them to a model until a person approves them. '}
      Approve a text only if you know its author and its purpose.
    </p>
    {entries.map((entry) => (
      <article>
        <h3>
          <a class="quiet" href={entryAt(entry.id)}>
            <Name>{entry.title ?? `Memory ${entry.id}`}</Name>
          </a>
        </h3>
        <p>
          {entry.preview}
          {entry.isCut ? '… (preview; open the memory to read all of it)' : ''}
        </p>
        {visit.config.packTrust === 'approved' && entry.addresses ? (
          <Note bad>This text addresses an agent.</Note>
        ) : null}
        <PostForm action="/review/approve" token={visit.formToken}>
          <input type="hidden" name="id" value={String(entry.id)} />
          <input type="hidden" name="version" value={String(entry.version)} />
          <button type="submit" class="small">
            Approve
          </button>
        </PostForm>
      </article>
    ))}
  </section>
)

export async function review(visit: Visit): Promise<Page> {
  const items = await reviewing(visit, 'captured.list', async (caller) => {
    const { scope, project } = await namedProjectOrNone(visit.services, caller, queryParameter(visit, 'project'))
    return visit.services.capture.review.list(scope, {
      ...{
        project,
        client: queryParameter(visit, 'client'),
        after: placeOfCursor(queryParameter(visit, 'after') ?? ''),
        limit: SIZE,
      },
    })
  })
  const addressing = await visit.services.capture.review.addressing(principalOf(visit), MOST_ADDRESSING)
  const [first, ...others] = items
  const noun = items.every(({ kind }) => kind === 'session') ? 'session' : 'item'
  const [entry] = first === undefined ? [] : await visit.services.entries.read(principalOf(visit), [first.id])
  return {
    title: 'Review',
    at: '/review',
    body: (
      <div data-review>
        <div class="head">
          <h1>Review</h1>
          <p>
            {items.length === 0
              ? ''
              : `${items.length === SIZE ? `${SIZE} or more ${noun}s` : plural(items.length, noun)} to review. `}
            Clients capture sessions automatically, and <code>commonplace learn</code> reads proposals from a
            repository. Only their owner can find them until they are approved. A session that is not approved expires.
          </p>
        </div>
        <Done visit={visit} />
        {addressing.length === 0 ? null : <Addressing visit={visit} entries={addressing} />}
        {first === undefined ? (
          <section class="card">
            <Nothing title="No sessions to review">
              <p>
                Sessions of clients with the plugin of this server appear here for review. To install it:{' '}
                <code>commonplace setup claude-code --capture</code>.
                {queryParameter(visit, 'after') === null ? '' : ' You skipped some: '}
                {queryParameter(visit, 'after') === null ? null : <a href="/review">start again</a>}
              </p>
            </Nothing>
          </section>
        ) : (
          <>
            <One
              visit={visit}
              of={first}
              entry={entry}
              others={others.filter(({ project, kind }) => project === first.project && kind === first.kind)}
            />
            <Waiting visit={visit} items={items} />
          </>
        )}
      </div>
    ),
  }
}
