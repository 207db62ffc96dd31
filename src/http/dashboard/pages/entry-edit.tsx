import type { Entry } from '../../../domain/entry/entry'
import { titleOf } from '../../../domain/entry/title'
import { notFound, Problem } from '../../../domain/errors'
import { mayOffer } from '../../../domain/identity/scope'
import { restoreContext } from '../../../tools/history/restore-context'
import { deleteContext } from '../../../tools/threads/delete-context'
import { updateContext } from '../../../tools/threads/update-context'
import { callTool } from '../call'
import { type Page, seeOther } from '../page'
import { entryAt, withQuery } from '../parts/addresses'
import { Name, Note } from '../parts/common'
import { Area, Field, PostForm } from '../parts/form'
import { principalOf, sent, type Visit } from '../visit'
import { prettyJson } from './entry-about'
import { idOf, noEntry } from './entry-address'

/** Mending a memory: edit, delete, bring back. Each by the tool that agents use, with the version that the person has seen. */
interface Draft {
  readonly text: string
  readonly tags: string
  readonly metadata: string
  readonly expected: number
}

const draftOf = ({ text, tags, metadata, version }: Entry): Draft => ({
  text,
  tags: tags.join(', '),
  metadata: metadata === null ? '' : prettyJson(metadata),
  expected: version,
})

async function changeable(visit: Visit): Promise<Entry> {
  const principal = principalOf(visit)
  const [entry] = await visit.services.entries.read(principal, [idOf(visit)])
  if (entry === undefined) throw noEntry()
  if (!mayOffer(principal, entry)) throw new Problem('forbidden', 'This key may read this memory and not change it.')
  return entry
}

const editPage = (visit: Visit, entry: Entry, draft: Draft, problem: Problem | null): Page => ({
  title: `Edit: ${titleOf(entry)}`,
  status: problem === null ? 200 : problem.code === 'conflict' ? 409 : 400,
  body: (
    <>
      <div class="head">
        <h1>
          Edit <Name>{titleOf(entry) || `memory ${entry.id}`}</Name>
        </h1>
      </div>
      {problem === null ? null : (
        <Note bad>
          <span>{problem.message}</span>
          {problem.code === 'conflict' ? (
            <span>
              Below is what you wrote. <a href={entryAt(entry.id)}>See what stands there now</a>; if you store again, it
              takes the place of that.
            </span>
          ) : null}
        </Note>
      )}
      <PostForm action={`${entryAt(entry.id)}/edit`} token={visit.formToken} class="card stack-form">
        <input
          type="hidden"
          name="expected"
          value={String(problem?.code === 'conflict' ? entry.version : draft.expected)}
        />
        <Area name="text" label="Text" value={draft.text} rows={14} />
        <Field name="tags" label="Tags" value={draft.tags} hint="Separated by commas" />
        <Area
          name="metadata"
          label="Metadata"
          value={draft.metadata}
          rows={8}
          class="code"
          hint="A JSON object, or nothing"
        />
        <p class="actions">
          <button type="submit" class="main">
            Store
          </button>
          <a href={entryAt(entry.id)}>Cancel</a>
        </p>
      </PostForm>
    </>
  ),
})

export async function edit(visit: Visit): Promise<Page> {
  const entry = await changeable(visit)
  return editPage(visit, entry, draftOf(entry), null)
}

const plainLines = (text: string): string => text.replaceAll('\r\n', '\n')

/** What differs from what stood in the form; what was not touched is not written. */
function changesOf(entry: Entry, draft: Draft): Record<string, unknown> {
  const before = draftOf(entry)
  const list = draft.tags.split(',').map((tag) => tag.trim())
  return {
    ...(plainLines(before.text) === draft.text ? {} : { text: draft.text }),
    ...(before.tags === draft.tags.trim() ? {} : { tags: list.filter((tag) => tag !== '') }),
    ...(before.metadata.trim() === draft.metadata.trim()
      ? {}
      : { metadata: draft.metadata.trim() === '' ? {} : draft.metadata }),
  }
}

export async function storeEdit(visit: Visit): Promise<Page | Response> {
  const { form } = visit
  const entry = await changeable(visit)
  const text = (name: string) => plainLines(form.get(name) ?? '')
  const draft: Draft = {
    text: text('text'),
    tags: text('tags'),
    metadata: text('metadata'),
    expected: Number(text('expected')),
  }
  const changes = changesOf(entry, draft)
  const back = entryAt(entry.id)
  if (Object.keys(changes).length === 0 && draft.expected === entry.version) return seeOther(back)
  try {
    await callTool(visit, updateContext, { context_id: entry.id, expected_version: draft.expected, ...changes })
    return seeOther(withQuery(back, { done: 'changed' }))
  } catch (error) {
    if (!(error instanceof Problem) || !/^(conflict|invalid_input|limit_exceeded)$/.test(error.code)) throw error
    return editPage(visit, entry, draft, error)
  }
}

export async function askDelete(visit: Visit): Promise<Page> {
  const entry = await changeable(visit)
  const { days } = visit.config.history
  return {
    title: `Delete: ${titleOf(entry)}`,
    body: (
      <div class="card">
        <h1>
          Delete <Name>{titleOf(entry) || `memory ${entry.id}`}</Name>?
        </h1>
        <p class="more">
          No agent finds it any more.{' '}
          {days === 0
            ? 'History is off on this server: it cannot be brought back.'
            : `It can be brought back for ${days} days.`}
        </p>
        <PostForm action={`${entryAt(entry.id)}/delete`} token={visit.formToken} class="actions more">
          <input type="hidden" name="expected" value={String(entry.version)} />
          <button type="submit" class="bad">
            Delete
          </button>
          <a href={entryAt(entry.id)}>Keep it</a>
        </PostForm>
      </div>
    ),
  }
}

export async function remove(visit: Visit): Promise<Response> {
  const id = idOf(visit)
  const { change_id: change } = await callTool(visit, deleteContext, {
    context_ids: [id],
    expected_version: Number(sent(visit, 'expected')),
  })
  const kept = visit.config.history.days > 0 && typeof change === 'string'
  return seeOther(kept ? withQuery(entryAt(id), { change }) : '/')
}

/** Brings back what was deleted, by the change that did it or by its id, or an older version. */
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
    throw notFound(`Nothing was brought back: ${String(first.reason)}`)
  return seeOther(withQuery(entryAt(id), { done: 'restored' }))
}
