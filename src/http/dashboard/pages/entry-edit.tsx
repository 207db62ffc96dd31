import type { Child } from 'hono/jsx'
import type { Entry } from '../../../domain/entry/entry'
import { isReserved } from '../../../domain/entry/metadata'
import { titleOf } from '../../../domain/entry/title'
import { Problem } from '../../../domain/errors'
import { updateContext } from '../../../tools/threads/update-context'
import { callTool } from '../call'
import { type Page, seeOther } from '../page'
import { entryAt, withQuery } from '../parts/addresses'
import { Name, Note } from '../parts/common'
import { Area, Field, PostForm } from '../parts/form'
import type { Visit } from '../visit'
import { prettyJson } from './entry-about'
import { changeable, idOf, isDeleted } from './entry-address'

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
