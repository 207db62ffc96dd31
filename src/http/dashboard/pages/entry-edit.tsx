import type { Entry } from '../../../domain/entry/entry'
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
import { changeable } from './entry-address'

/** Editing a memory, by the tool that agents use, with the version that the person has seen. */
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
