import { titleOf } from '../../../domain/entry/title'
import { notFound, Problem } from '../../../domain/errors'
import { attempt } from '../../../services/outcome'
import { restoreContext } from '../../../tools/history/restore-context'
import { deleteContext } from '../../../tools/threads/deletion'
import { type Page, seeOther } from '../page'
import { Name } from '../parts/common'
import { PostForm } from '../parts/form'
import { entryAt, withQuery } from '../parts/words'
import { callTool, principalOf, queryParameter, sent, type Visit } from '../visit'
import { changeable, EraseForm, idOf, isDeleted } from './entry'

/** Deletes and restores a memory with the tools that agents use. */
export async function askDelete(visit: Visit): Promise<Page | Response> {
  const entry = await changeable(visit)
  if (isDeleted(entry)) return seeOther(entryAt(idOf(visit)))
  const { days } = visit.config.history
  const isUnsure = queryParameter(visit, 'unsure') !== null
  const seen = await attempt(() =>
    visit.services.readHistory.versions(principalOf(visit), entry.id, { limit: 1, offset: 0 }, false),
  )
  return {
    title: `Delete: ${titleOf(entry)}`,
    body: (
      <div class="card">
        <h1>
          Delete <Name>{titleOf(entry) || `memory ${entry.id}`}</Name>?
        </h1>
        <p class="more">
          Agents no longer find it.{' '}
          {days === 0
            ? 'History is off on this server: it cannot be restored.'
            : `It can be restored for ${days} days.`}
        </p>
        <PostForm action={`${entryAt(entry.id)}/delete`} token={visit.formToken} class="actions more">
          <input type="hidden" name="expected" value={String(entry.version)} />
          <button type="submit" class="bad">
            Delete
          </button>
          <a href={entryAt(entry.id)}>Keep it</a>
        </PostForm>
        <details class="more" open={isUnsure}>
          <summary>Erase for good instead</summary>
          <EraseForm
            id={entry.id}
            versions={seen.ok ? seen.value.total : null}
            token={visit.formToken}
            isUnsure={isUnsure}
          />
        </details>
      </div>
    ),
  }
}

/** Erases a memory with its history, also one that was deleted before. */
export async function erase(visit: Visit): Promise<Response> {
  const id = idOf(visit)
  if (sent(visit, 'sure') === null) {
    const isGone = isDeleted(await changeable(visit))
    return seeOther(isGone ? entryAt(id) : withQuery(`${entryAt(id)}/delete`, { unsure: 'yes' }))
  }
  const { deleted_count: erased } = await callTool(visit, deleteContext, { context_ids: [id], erase: true })
  if (erased === 0) throw notFound('This memory does not exist, or this key cannot change it.')
  return seeOther(withQuery('/deleted', { erased: id }))
}

export async function remove(visit: Visit): Promise<Response> {
  const id = idOf(visit)
  const args = { context_ids: [id], expected_version: Number(sent(visit, 'expected')) }
  const deleted = await callTool(visit, deleteContext, args).catch(async (error) => {
    // Another user was faster, or the form was submitted twice.
    if (error instanceof Problem && error.code === 'not_found' && isDeleted(await changeable(visit))) return null
    throw error
  })
  if (deleted === null) return seeOther(entryAt(id))
  const { change_id: change } = deleted
  const kept = visit.config.history.days > 0 && typeof change === 'string'
  return seeOther(kept ? withQuery(entryAt(id), { change }) : '/')
}

/** Restores a deleted memory, by the change that deleted it or by its id, or an older version. */
export async function restore(visit: Visit): Promise<Response> {
  const id = idOf(visit)
  const [version, expected, change] = ['version', 'expected', 'change'].map((name) => sent(visit, name))
  const what =
    change != null
      ? { change_id: change }
      : {
          context_ids: [id],
          ...(version == null ? {} : { version: Number(version) }),
          ...(expected == null ? {} : { expected_version: Number(expected) }),
        }
  const { restored, skipped } = await callTool(visit, restoreContext, what)
  const [first] = Array.isArray(skipped) ? skipped : []
  if (Array.isArray(restored) && restored.length === 0 && first !== undefined)
    throw notFound(`Nothing was restored: ${String(first.reason)}`)
  return seeOther(withQuery(entryAt(id), { done: 'restored' }))
}
