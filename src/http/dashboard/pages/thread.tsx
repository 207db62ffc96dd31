import { checkThreadId } from '../../../domain/entry/draft'
import type { EntryPreview } from '../../../domain/entry/entry'
import { titleOf } from '../../../domain/entry/title'
import { notFound } from '../../../domain/errors'
import { firstCodePoints } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import type { Page } from '../page'
import { By, Facts, Images, KindLabel, Name, Nothing, Pages, ProjectLink, Tags, Time } from '../parts/common'
import { Markdown } from '../parts/markdown'
import { entryAt, plural, threadAt } from '../parts/words'
import { principalOf, queryNumber, type Visit } from '../visit'

/** Shows a thread as a conversation, oldest first within a page. */
const SIZE = 30
/** Code points read of each text; one more shows whether it is cut. */
const SHOWN = 2_000
const DEEPEST = 1_000_000
/** Memories of a page up to which the newest one is near its top. */
const SHORT = 5

/** Returns whether the title differs from the start of the text. */
const hasTitle = ({ title }: EntryPreview): boolean => title !== null && title.trim() !== ''

const Turn = ({ of, now }: { of: EntryPreview; now: Millis }) => (
  <li class={`turn ${of.source}`} data-row data-edit={`${entryAt(of.id)}/edit`}>
    <p class="by">
      <By entry={of} />
    </p>
    <Facts>
      <KindLabel kind={of.kind} />
      <Time at={of.createdAt} now={now} />
      {of.version > 1 ? <span>version {of.version}</span> : null}
      {of.project === null ? null : <ProjectLink project={of.project} />}
      <Tags tags={of.tags} />
      <a class="quiet open" href={entryAt(of.id)} data-open>
        memory {of.id}
      </a>
    </Facts>
    {hasTitle(of) ? (
      <h2>
        <Name>{titleOf(of)}</Name>
      </h2>
    ) : null}
    <Markdown text={`${firstCodePoints(of.text, SHOWN)}${of.chars > SHOWN ? '…' : ''}`} />
    {of.chars > SHOWN ? (
      <p>
        <a href={entryAt(of.id)}>Read all {plural(of.chars, 'character')}</a>
      </p>
    ) : null}
    <Images of={of} />
  </li>
)

/** @param name as in the address */
export async function thread(visit: Visit, name: string): Promise<Page> {
  const { services, url } = visit
  const id = checkThreadId(name)
  const offset = queryNumber(visit, 'offset', 0, DEEPEST)
  const filter = { op: 'thread', is: id } as const
  const page = await services.entries.page(principalOf(visit), filter, {
    ...{ limit: SIZE, offset, previewLength: SHOWN + 1 },
  })
  if (page.total === 0) throw notFound('This thread does not exist, or this key cannot see it.')
  const now = services.now()
  const agents = [...new Set(page.entries.flatMap(({ agent }) => (agent === null ? [] : [agent])))]
  return {
    title: id,
    at: '/threads',
    body: (
      <>
        <div class="head">
          <h1>
            <Name>{id}</Name>
          </h1>
          <p>
            {plural(page.total, 'memory', 'memories')}
            {agents.length === 0 ? '' : `, by ${agents.slice(0, 6).join(', ')}`}
          </p>
          {page.entries.length <= SHORT ? null : (
            <p>
              <a href={offset === 0 ? '#newest' : `${threadAt(id)}#newest`}>Go to the newest memory</a>
            </p>
          )}
        </div>
        {page.entries.length > 0 ? null : <Nothing title="No entries on this page" />}
        <ol class="talk">
          {page.entries.toReversed().map((entry) => (
            <Turn of={entry} now={now} />
          ))}
        </ol>
        {offset === 0 ? <span id="newest" /> : null}
        <Pages url={url} offset={offset} shown={page.entries.length} total={page.total} size={SIZE} />
      </>
    ),
  }
}

/** Decodes the thread name of a path. */
export function threadOfPath(visit: Visit): Promise<Page> {
  try {
    return thread(visit, decodeURIComponent(visit.url.pathname.slice('/threads/'.length)))
  } catch {
    throw notFound('This thread does not exist, or this key cannot see it.')
  }
}
