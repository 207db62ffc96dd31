import { titleOf } from '../../../domain/entry/title'
import { Problem } from '../../../domain/errors'
import type { DeletedEntry } from '../../../domain/statistics'
import type { Millis } from '../../../domain/time'
import { restoreContext } from '../../../tools/history/restore-context'
import { type Page, seeOther } from '../page'
import { Facts, KindLabel, Name, Note, Nothing, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { Toast } from '../parts/toast'
import { entryAt, plural, samePage, withQuery } from '../parts/words'
import { callTool, hasRole, principalOf, queryParameter, type Visit } from '../visit'

/** Lists deleted memories, and restores them. */
const SIZE = 50

const Row = ({ of, now }: { of: DeletedEntry; now: Millis }) => {
  const name = titleOf(of) || `Memory ${of.id}`
  return (
    <li class="pick" data-row>
      <label>
        <input type="checkbox" name="pick" value={String(of.id)} />
        <span class="hidden">
          Select <Name>{name}</Name>
        </span>
      </label>
      <div>
        <p class="title">
          <a href={entryAt(of.id)} data-open>
            <Name>{name}</Name>
          </a>
        </p>
        <Facts>
          <KindLabel kind={of.kind} />
          {of.project === null ? null : <ProjectLink project={of.project} />}
          <span>
            deleted {of.deletedBy === '' ? '' : 'by '}
            <Name>{of.deletedBy}</Name> <Time at={of.deletedAt} now={now} hours />
          </span>
        </Facts>
      </div>
      <button type="submit" class="small" name="pick" value={String(of.id)} formaction="/deleted?one">
        Restore<span class="hidden"> {name}</span>
      </button>
    </li>
  )
}

function Done({ visit }: { visit: Visit }) {
  const erased = queryParameter(visit, 'erased')
  if (erased !== null && /^\d{1,16}$/.test(erased)) return <Toast>Memory {erased} is erased.</Toast>
  const done = queryParameter(visit, 'done')
  if (done === null || !/^\d{1,4}$/.test(done)) return null
  return done === '0' ? (
    <Note bad>Nothing was restored: select at least one memory.</Note>
  ) : (
    <Toast>{plural(Number(done), 'memory was', 'memories were')} restored.</Toast>
  )
}

export async function deleted(visit: Visit): Promise<Page> {
  const principal = principalOf(visit)
  if (!hasRole(visit, 'writer')) throw new Problem('forbidden', 'This key can read memories but not restore them.')
  const { services, config } = visit
  const before = queryParameter(visit, 'before')
  const { entries, older } = await services.overview.deleted(principal, {
    before: before !== null && /^\d{1,15}$/.test(before) ? Number(before) : null,
    limit: SIZE,
  })
  const now = services.now()
  return {
    title: 'Deleted memories',
    at: '/activity',
    ...(entries.length > 0 ? { list: 'Skip to the deleted memories' } : {}),
    body: (
      <div class="stack">
        <Done visit={visit} />
        <div class="head">
          <h1>Deleted memories</h1>
          <p>
            {config.history.days === 0
              ? 'History is off on this server: deleted memories cannot be restored.'
              : `You can restore a deleted memory for ${plural(config.history.days, 'day')}. Then it is erased.`}
          </p>
        </div>
        {entries.length > 0 ? (
          <PostForm action="/deleted" token={visit.formToken} class="card">
            <ul class="list picklist" id="list">
              {entries.map((one) => (
                <Row of={one} now={now} />
              ))}
            </ul>
            <p class="actions more">
              <button type="submit">Restore selected</button>
            </p>
          </PostForm>
        ) : (
          <section class="card">
            <Nothing title="No deleted memories">
              <p>Memories that you can restore are listed here after they are deleted.</p>
            </Nothing>
          </section>
        )}
        {older === null ? null : (
          <p>
            <a class="button" href={samePage(visit.url, { before: older, done: null })} rel="next">
              Older
            </a>
          </p>
        )}
      </div>
    ),
  }
}

/** Restores the selected memories, or the one whose button was pressed. */
export async function restoreDeleted(visit: Visit): Promise<Response> {
  const picked = visit.form.getAll('pick').map(Number)
  const wanted = visit.url.searchParams.has('one') ? picked.slice(-1) : picked
  const ids = [...new Set(wanted.filter((id) => Number.isSafeInteger(id) && id > 0))].slice(0, SIZE)
  if (ids.length === 0) return seeOther(withQuery('/deleted', { done: '0' }))
  const { restored } = await callTool(visit, restoreContext, { context_ids: ids })
  return seeOther(withQuery('/deleted', { done: String(Array.isArray(restored) ? restored.length : 0) }))
}
