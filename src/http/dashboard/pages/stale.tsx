import { holdsFrom } from '../../../domain/currency/later-first'
import type { EntryPreview } from '../../../domain/entry/entry'
import type { Resolution, StalePair } from '../../../services/stale/stale-pairs'
import { namedProjectOrNone } from '../../named-project'
import { placeOf, readPlace, readResolution } from '../../stale'
import { type Page, seeOther } from '../page'
import { Facts, KindLabel, Name, Note, Nothing, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { Markdown } from '../parts/markdown'
import { entryAt, samePage, withQuery } from '../parts/words'
import { queryNumber, queryParameter, sent, type Visit } from '../visit'
import { reviewing } from './review'

/** Pairs of memories of which the earlier one may be outdated. The first of the page has a key for each answer. */

const SIZE = 10

const WAYS: readonly (readonly [as: Resolution, label: string, key: string])[] = [
  ['replaces', 'The later one replaces it', 'r'],
  ['both_hold', 'Both hold', 'b'],
  ['merge', 'Merge both', 'm'],
]

const DONE: Readonly<Record<Resolution, string>> = {
  replaces: 'The later memory replaces the earlier one.',
  both_hold: 'Both hold: the server does not ask again while their texts stay the same.',
  merge: 'One memory holds both texts. Edit it to shorten it.',
}

const VERDICTS = {
  replaces: 'A model judged that the later memory replaces the earlier one.',
  contradicts: 'A model judged that the two contradict each other.',
  both_hold: 'A model judged that both hold.',
} as const

const Memory = ({ name, entry, now, shown }: { name: string; entry: EntryPreview; now: number; shown?: number }) => (
  <article data-row data-edit={`${entryAt(entry.id)}/edit`}>
    <h2>
      {name}:{' '}
      <a class="quiet" href={entryAt(entry.id)}>
        <Name>{entry.title ?? `Memory ${entry.id}`}</Name>
      </a>
    </h2>
    <Facts>
      <KindLabel kind={entry.kind} />
      {entry.project === null ? null : <ProjectLink project={entry.project} />}
      <Time at={holdsFrom(entry)} now={now} />
      {shown === undefined || shown === 0 ? null : (
        <span>shown to {shown === 1 ? '1 session' : `${shown} sessions`}</span>
      )}
    </Facts>
    <div class="text-of more">
      <Markdown text={entry.text} />
    </div>
    {entry.text.length < entry.chars ? <p class="soft">The beginning; open the memory to read all of it.</p> : null}
  </article>
)

const Pair = ({ visit, of, isFirst }: { visit: Visit; of: StalePair; isFirst: boolean }) => {
  const now = visit.services.now()
  const project = queryParameter(visit, 'project')
  return (
    <section class="card stack">
      {of.verdict === null ? null : <Note>{VERDICTS[of.verdict]}</Note>}
      <Memory name="Later" entry={of.later} now={now} />
      <Memory name="Earlier" entry={of.earlier} now={now} shown={of.shown} />
      <div class="actions">
        {WAYS.map(([as, label, key]) => (
          <PostForm action="/stale" token={visit.formToken} {...(isFirst ? { shortcut: key } : {})}>
            <input type="hidden" name="later" value={String(of.later.id)} />
            <input type="hidden" name="earlier" value={String(of.earlier.id)} />
            <input type="hidden" name="as" value={as} />
            {project === null ? null : <input type="hidden" name="project" value={project} />}
            <button type="submit" class={isFirst && as === 'replaces' ? 'main' : ''}>
              {label} {isFirst ? <kbd>{key}</kbd> : null}
            </button>
          </PostForm>
        ))}
      </div>
    </section>
  )
}

const Done = ({ visit }: { visit: Visit }) => {
  const said = DONE[(queryParameter(visit, 'done') ?? '') as Resolution]
  if (said === undefined) return null
  const id = queryNumber(visit, 'made', 0, Number.MAX_SAFE_INTEGER)
  return (
    <Note>
      {said} {id === 0 ? null : <a href={entryAt(id)}>Memory {id}</a>}
    </Note>
  )
}

export async function stale(visit: Visit): Promise<Page> {
  const { pairs, next } = await reviewing(visit, 'stale.list', async (caller) => {
    const { scope, project } = await namedProjectOrNone(visit.services, caller, queryParameter(visit, 'project'))
    return visit.services.stalePairs.list(scope, {
      project,
      after: readPlace(queryParameter(visit, 'after')),
      limit: SIZE,
    })
  })
  return {
    title: 'Outdated?',
    at: '/stale',
    body: (
      <div>
        <div class="head">
          <h1>Outdated?</h1>
          <p>
            Two memories on one subject: the later one may replace the earlier one. Earlier memories that agents were
            shown most often come first.
          </p>
        </div>
        <Done visit={visit} />
        {pairs.map((of, i) => (
          <Pair visit={visit} of={of} isFirst={i === 0} />
        ))}
        {pairs.length > 0 ? null : (
          <section class="card">
            <Nothing title="No pair waits for a judgement">
              <p>The server looks for pairs every few minutes, after memories were stored.</p>
            </Nothing>
          </section>
        )}
        {next === null ? null : (
          <p>
            <a class="button" href={samePage(visit.url, { after: placeOf(next), done: null, made: null })} rel="next">
              Older
            </a>
          </p>
        )}
      </div>
    ),
  }
}

export async function resolve(visit: Visit): Promise<Response> {
  const { as, ...pair } = readResolution(sent(visit, 'later'), sent(visit, 'earlier'), sent(visit, 'as'))
  const made = await reviewing(visit, 'stale.resolve', (caller) => visit.services.stalePairs.resolve(caller, pair, as))
  visit.services.afterwards(visit.services.maintenance.work())
  return seeOther(withQuery('/stale', { project: sent(visit, 'project'), done: as, made: String(made) }))
}
