import type { Entry } from '../../../domain/entry/entry'
import { titleOf } from '../../../domain/entry/title'
import { mayOffer } from '../../../domain/identity/scope'
import { addressesAgent } from '../../../domain/trust/agent-directed'
import { attempt } from '../../../services/outcome'
import type { DiffedPage } from '../../../services/searching/history/read-history'
import type { Page } from '../page'
import { entryAt } from '../parts/addresses'
import { By, Facts, Images, Kind, Name, Note, Tags, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { asked, askedNumber, principalOf, type Visit } from '../visit'
import { About, Links } from './entry-about'
import { idOf, noEntry } from './entry-address'
import { Versions } from './entry-history'
import { StoredText } from './entry-text'
import { Used } from './usage-words'

/** Shows one memory with its text, metadata, links and history. */
const LINKS = 100
const VERSIONS = 20
const DEEPEST = 1_000_000

async function look(visit: Visit, id: number) {
  const { services } = visit
  const principal = principalOf(visit)
  const window = { limit: VERSIONS, offset: askedNumber(visit, 'offset', 0, DEEPEST) }
  const [entries, links, versions, use] = await Promise.all([
    services.entries.read(principal, [id]),
    services.overview.links(principal, id, LINKS),
    attempt(() => services.readHistory.versions(principal, id, window, true)),
    services.capture.usage.of(principal, id),
  ])
  return { entry: entries[0], links, history: versions.ok ? versions.value : null, offset: window.offset, use }
}

/** Reports the last action, with its undo. */
function Done({ visit, id }: { visit: Visit; id: number }) {
  const done = asked(visit, 'done')
  if (done === 'changed') return <Note>Your changes are stored.</Note>
  if (done === 'approved') return <Note>You have approved this version. Packs and hooks include it.</Note>
  if (done === 'restored') return <Note>The memory was restored.</Note>
  if (done !== 'stored') return null
  return <Note>Memory {id} is stored. Agents can now find it.</Note>
}

/** Shows whether a person has approved the memory, where approval matters, and the form to approve it. */
function Approval({ visit, entry, may }: { visit: Visit; entry: Entry; may: boolean }) {
  const addresses = addressesAgent(entry)
  const isLimited = visit.config.packTrust === 'approved'
  if (!addresses && !isLimited) return null
  if (entry.approved) return <Note>A person has approved this version.</Note>
  return (
    <Note bad={addresses}>
      {addresses ? 'This text addresses an agent. ' : ''}
      {isLimited ? 'Packs and hooks' : 'Hooks'} leave it out until a person approves it.
      {may ? (
        <PostForm action="/review/approve" token={visit.formToken}>
          <input type="hidden" name="id" value={String(entry.id)} />
          <input type="hidden" name="version" value={String(entry.version)} />
          <input type="hidden" name="back" value="entry" />
          <button type="submit" class="small">
            Approve
          </button>
        </PostForm>
      ) : null}
    </Note>
  )
}

function Shown({ visit, entry, seen }: { visit: Visit; entry: Entry; seen: Awaited<ReturnType<typeof look>> }) {
  const { services, formToken } = visit
  const now = services.now()
  const may = mayOffer(principalOf(visit), entry)
  return (
    <>
      <Done visit={visit} id={entry.id} />
      <div class="head">
        <h1>
          <Name>{titleOf(entry) || `Memory ${entry.id}`}</Name>
        </h1>
        {may ? (
          <div class="actions">
            <a class="button" href={`${entryAt(entry.id)}/edit`}>
              Edit
            </a>
            <a class="button bad" href={`${entryAt(entry.id)}/delete`}>
              Delete
            </a>
          </div>
        ) : null}
      </div>
      <div class="columns">
        <div>
          <article class="card">
            <Facts>
              <Kind kind={entry.kind} />
              <By entry={entry} />
              <Time at={entry.createdAt} now={now} />
              {entry.archived ? <span>archived: not in lists</span> : null}
              {entry.reader === '' ? null : <span>private</span>}
              <Used use={seen.use} now={now} />
            </Facts>
            <Approval visit={visit} entry={entry} may={may} />
            <StoredText visit={visit} text={entry.text} />
            <div class="more">
              <Images of={entry} />
            </div>
            <div class="more">
              <Tags tags={entry.tags} />
            </div>
          </article>
          {entry.summary === '' ? null : (
            <section class="card">
              <h2>Summary</h2>
              <p>{entry.summary}</p>
            </section>
          )}
          <Links links={seen.links} />
          {seen.history === null ? null : (
            <Versions id={entry.id} history={seen.history} token={may ? formToken : null} now={now} visit={visit} />
          )}
        </div>
        <div class="beside">
          <About entry={entry} now={now} />
        </div>
      </div>
    </>
  )
}

/** Shows a deleted memory, as long as it can be restored. */
function Gone({ visit, id, history }: { visit: Visit; id: number; history: DiffedPage }) {
  const change = asked(visit, 'change')
  const may = visit.credential.kind === 'principal' && visit.credential.principal.role !== 'reader'
  return (
    <>
      <Note>
        <span>{change === null ? 'This memory was deleted.' : `Memory ${id} is deleted.`}</span>
        {may ? (
          <PostForm action={`${entryAt(id)}/restore`} token={visit.formToken}>
            {change === null ? null : <input type="hidden" name="change" value={change} />}
            <button type="submit" class="small">
              {change === null ? 'Restore' : 'Undo'}
            </button>
          </PostForm>
        ) : null}
      </Note>
      <div class="head">
        <h1>Deleted memory {id}</h1>
      </div>
      <Versions id={id} history={history} token={null} now={visit.services.now()} visit={visit} />
    </>
  )
}

export async function entry(visit: Visit): Promise<Page> {
  const id = idOf(visit)
  const seen = await look(visit, id)
  if (seen.entry !== undefined)
    return { title: titleOf(seen.entry), body: <Shown visit={visit} entry={seen.entry} seen={seen} /> }
  if (seen.history?.deleted !== true) throw noEntry()
  return { title: `Deleted memory ${id}`, body: <Gone visit={visit} id={id} history={seen.history} /> }
}
