import type { AddressingEntry, ReviewedEntry } from '../../../domain/capture/review'
import type { Entry } from '../../../domain/entry/entry'
import { namedProjectOrNone } from '../../named-project'
import type { Page } from '../page'
import { entryAt, samePage } from '../parts/addresses'
import { Facts, Name, Note, Nothing, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { Markdown } from '../parts/markdown'
import { plural } from '../parts/words'
import { asked, principalOf, type Visit } from '../visit'
import { Done } from './review-done'
import { Drop, Keep, Merge } from './review-forms'
import { Waiting } from './review-list'
import { reviewing } from './reviewing'

/** Shows captured sessions one at a time, to keep, merge or drop; each action can be undone exactly. */
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
        <Keep visit={visit} of={of} />
        <hr />
        <div class="actions">
          <Drop visit={visit} of={of} />
          <a
            class="button"
            href={samePage(visit.url, { after: `${of.updatedAt}-${of.id}`, done: null, made: null })}
            data-key="l"
          >
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

function placeOf(visit: Visit) {
  const [, updatedAt, id] = /^(\d{1,15})-(\d{1,15})$/.exec(asked(visit, 'after') ?? '') ?? []
  return updatedAt === undefined || id === undefined ? null : { updatedAt: Number(updatedAt), id: Number(id) }
}

export async function review(visit: Visit): Promise<Page> {
  const items = await reviewing(visit, 'captured.list', async (caller) => {
    const { scope, project } = await namedProjectOrNone(visit.services, caller, asked(visit, 'project'))
    return visit.services.capture.review.list(scope, {
      ...{ project, client: asked(visit, 'client'), after: placeOf(visit), limit: SIZE },
    })
  })
  const addressing = await visit.services.capture.review.addressing(principalOf(visit), MOST_ADDRESSING)
  const [first, ...others] = items
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
              : `${items.length === SIZE ? `${SIZE} or more sessions` : plural(items.length, 'session')} to review. `}
            Clients capture sessions automatically. Only their owner finds a session until it is approved. A session
            that is not approved expires.
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
                {asked(visit, 'after') === null ? '' : ' You skipped some: '}
                {asked(visit, 'after') === null ? null : <a href="/review">start again</a>}
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
