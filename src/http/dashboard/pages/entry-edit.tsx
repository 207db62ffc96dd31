import type { Child } from 'hono/jsx'
import type { Entry } from '../../../domain/entry/entry'
import { isReserved } from '../../../domain/entry/metadata'
import { titleOf } from '../../../domain/entry/title'
import { notFound, Problem } from '../../../domain/errors'
import { restoreContext } from '../../../tools/history/restore-context'
import { deleteContext } from '../../../tools/threads/deletion'
import { updateContext } from '../../../tools/threads/update-context'
import { type Page, seeOther } from '../page'
import { Name, Note } from '../parts/common'
import { Area, Field, PostForm } from '../parts/form'
import { entryAt, withQuery } from '../parts/words'
import { callTool, sent, type Visit } from '../visit'
import { changeable, idOf, isDeleted, prettyJson } from './entry'

/** Edits a memory with the tool that agents use, at the version that the person has seen. */
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

interface Shown {
  readonly id: number
  readonly name: string
  readonly draft: Draft
  readonly status?: number
  /** The error to show. */
  readonly children?: Child
}

const editPage = (visit: Visit, { id, name, draft, status = 200, children }: Shown): Page => ({
  title: `Edit: ${name}`,
  status,
  body: (
    <>
      <div class="head">
        <h1>
          Edit <Name>{name}</Name>
        </h1>
      </div>
      {children === undefined ? null : <Note bad>{children}</Note>}
      <PostForm action={`${entryAt(id)}/edit`} token={visit.formToken} class="card stack-form">
        <input type="hidden" name="expected" value={String(draft.expected)} />
        <Area name="text" label="Text" value={draft.text} rows={14} />
        <Field name="tags" label="Tags" value={draft.tags} hint="Separated by commas" />
        <Area
          name="metadata"
          label="Metadata"
          value={draft.metadata}
          rows={8}
          class="code"
          hint="A JSON object, or nothing. Readers depend on audience, project and diary. Removing one of these lines keeps its value."
        />
        <p class="actions">
          <button type="submit" class="main">
            Store
          </button>
          <a href={entryAt(id)}>Cancel</a>
        </p>
      </PostForm>
    </>
  ),
})

const nameOf = (entry: Entry): string => titleOf(entry) || `memory ${entry.id}`

/** A link that opens in a new tab: this page is the answer to a form, and the browser would lose it. */
const Beside = ({ id, children }: { id: number; children: Child }) => (
  <a href={entryAt(id)} target="_blank" rel="noopener">
    {children}
  </a>
)

export async function edit(visit: Visit): Promise<Page | Response> {
  const entry = await changeable(visit)
  if (isDeleted(entry)) return seeOther(entryAt(idOf(visit)))
  return editPage(visit, { id: entry.id, name: nameOf(entry), draft: draftOf(entry) })
}

/** Reserved keys whose value is preserved when they are removed from the form, so that deleting a line does not publish a memory. */
const READER_KEYS = ['audience', 'project', 'diary', 'captured']

/** Returns the metadata of the form, with null for each other reserved key that was removed. Numbers keep their digits. */
function metadataOf(entry: Entry, written: string): string {
  let given: unknown
  try {
    given = JSON.parse(written)
  } catch {
    return written
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given) || Object.keys(given).length === 0)
    return written
  const removed = Object.keys(entry.metadata ?? {}).filter(
    (key) => isReserved(key) && !READER_KEYS.includes(key) && !Object.hasOwn(given, key),
  )
  const nulls = removed.map((key) => `,${JSON.stringify(key)}:null`).join('')
  return `${written.slice(0, written.lastIndexOf('}'))}${nulls}}`
}

const plainLines = (text: string): string => text.replaceAll('\r\n', '\n')

/** Returns the fields that differ from the original form; unchanged fields are not written. */
function changesOf(entry: Entry, draft: Draft): Record<string, unknown> {
  const before = draftOf(entry)
  const list = draft.tags.split(',').map((tag) => tag.trim())
  return {
    ...(plainLines(before.text) === draft.text ? {} : { text: draft.text }),
    ...(before.tags === draft.tags.trim() ? {} : { tags: list.filter((tag) => tag !== '') }),
    ...(before.metadata.trim() === draft.metadata.trim()
      ? {}
      : { metadata: draft.metadata.trim() === '' ? {} : metadataOf(entry, draft.metadata.trim()) }),
  }
}

export async function storeEdit(visit: Visit): Promise<Page | Response> {
  const { form } = visit
  const entry = await changeable(visit)
  const id = idOf(visit)
  const text = (name: string) => plainLines(form.get(name) ?? '')
  const draft: Draft = {
    text: text('text'),
    tags: text('tags'),
    metadata: text('metadata'),
    expected: Number(text('expected')),
  }
  if (isDeleted(entry))
    return editPage(visit, {
      ...{ id, name: `memory ${id}`, status: 409, draft: { ...draft, expected: entry.deletedAt + 1 } },
      children: (
        <span>
          This memory was deleted while you were editing. Your text is below. <Beside id={id}>Restore it</Beside>, then
          store again.
        </span>
      ),
    })
  const changes = changesOf(entry, draft)
  const back = entryAt(id)
  if (Object.keys(changes).length === 0 && draft.expected === entry.version) return seeOther(back)
  try {
    await callTool(visit, updateContext, { context_id: id, expected_version: draft.expected, ...changes })
    return seeOther(withQuery(back, { done: 'changed' }))
  } catch (error) {
    if (!(error instanceof Problem) || !/^(conflict|invalid_input|limit_exceeded)$/.test(error.code)) throw error
    const isConflict = error.code === 'conflict'
    return editPage(visit, {
      ...{ id, name: nameOf(entry), status: isConflict ? 409 : 400 },
      draft: isConflict ? { ...draft, expected: entry.version } : draft,
      children: (
        <>
          <span>{error.message}</span>
          {isConflict ? (
            <span>
              Your text is below. <Beside id={id}>See the current version</Beside>. If you store again, you overwrite
              it.
            </span>
          ) : null}
        </>
      ),
    })
  }
}

/** Deletes and restores a memory with the tools that agents use. */
export async function askDelete(visit: Visit): Promise<Page | Response> {
  const entry = await changeable(visit)
  if (isDeleted(entry)) return seeOther(entryAt(idOf(visit)))
  const { days } = visit.config.history
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
      </div>
    ),
  }
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
