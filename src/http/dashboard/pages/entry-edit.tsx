import type { Child } from 'hono/jsx'
import type { Entry } from '../../../domain/entry/entry'
import { readId } from '../../../domain/entry/link'
import { isReserved, type JsonValue, own } from '../../../domain/entry/metadata'
import { titleOf } from '../../../domain/entry/title'
import { Problem } from '../../../domain/errors'
import { textDiff } from '../../../domain/history/diff'
import { jsonFlaw } from '../../../domain/json/error-line'
import type { Millis } from '../../../domain/time'
import { updateContext } from '../../../tools/threads/update-context'
import { type Page, seeOther } from '../page'
import { Name, Note, Time } from '../parts/common'
import { Area, Field, type FieldErrors, PostForm } from '../parts/form'
import { entryAt, withQuery } from '../parts/words'
import { callTool, principalOf, queryParameter, type Visit } from '../visit'
import { changeable, Diff, idOf, isDeleted, prettyJson } from './entry'
import {
  Details,
  FIELDS,
  type FieldName,
  LINK_FIELDS,
  METADATA_FIELDS,
  Title,
  type Values,
  valuesOf,
} from './entry-form'

/** Edits a memory with the tool that agents use, at the version that the person has seen: by its fields, or its metadata as JSON. */
interface Draft {
  readonly values: Values
  /** Metadata as JSON; null for a form with fields. */
  readonly json: string | null
  readonly expected: number
}

const jsonOf = ({ metadata }: Entry): string => (metadata === null ? '' : prettyJson(metadata))

const draftOf = (entry: Entry, asJson: boolean): Draft => ({
  values: valuesOf(entry),
  json: asJson ? jsonOf(entry) : null,
  expected: entry.version,
})

interface Shown {
  readonly id: number
  readonly name: string
  readonly draft: Draft
  readonly status?: number
  readonly errors?: FieldErrors
  /** The error to show. */
  readonly children?: Child
  /** The memory as another edit has stored it. */
  readonly theirs?: Entry
}

const NO_ERRORS: FieldErrors = new Map()

/** Two views of the same memory. A draft is not carried from one to the other, so they are links and no buttons. */
const Views = ({ id, asJson }: { id: number; asJson: boolean }) => (
  <nav class="views" aria-label="Views of this form">
    <a href={`${entryAt(id)}/edit`} aria-current={asJson ? undefined : 'page'}>
      Fields
    </a>
    <a href={`${entryAt(id)}/edit?view=json`} aria-current={asJson ? 'page' : undefined}>
      JSON
    </a>
  </nav>
)

const editPage = (
  visit: Visit,
  { id, name, draft, status = 200, errors = NO_ERRORS, children, theirs }: Shown,
): Page => ({
  title: `Edit: ${name}`,
  status,
  body: (
    <>
      <div class="head">
        <h1>
          Edit <Name>{name}</Name>
        </h1>
        <Views id={id} asJson={draft.json !== null} />
      </div>
      {children === undefined ? null : <Note bad>{children}</Note>}
      {theirs === undefined ? null : <Theirs entry={theirs} draft={draft} now={visit.services.now()} />}
      <PostForm action={`${entryAt(id)}/edit`} token={visit.formToken} class="card stack-form">
        <input type="hidden" name="expected" value={String(draft.expected)} />
        {draft.json === null && draft.values.title !== undefined ? (
          <Title values={draft.values} errors={errors} />
        ) : null}
        {draft.values.text === undefined ? null : (
          <Area name="text" label="Text" value={draft.values.text} rows={12} error={errors.get('text')} />
        )}
        {draft.json === null ? (
          draft.values.title === undefined ? null : (
            <Details values={draft.values} errors={errors} />
          )
        ) : (
          <>
            <Field
              name="tags"
              label="Tags"
              value={draft.values.tags ?? ''}
              hint="Separated by commas"
              error={errors.get('tags')}
            />
            <Area
              name="metadata"
              label="Metadata"
              value={draft.json}
              rows={14}
              class="code"
              hint="A JSON object, or nothing. Readers depend on audience, project and diary. Removing one of these lines keeps its value."
              error={errors.get('metadata')}
            />
          </>
        )}
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

/** Shows who changed the memory, and how the draft differs from it. */
const Theirs = ({ entry, draft, now }: { entry: Entry; draft: Draft; now: Millis }) => {
  const { text } = draft.values
  const by = entry.changedAgent ?? entry.changedBy
  return (
    <section class="card">
      <h2>The current version and your text</h2>
      <p class="soft">
        Version {entry.version}, changed{' '}
        {by === null ? null : (
          <>
            by <Name>{by}</Name>{' '}
          </>
        )}
        <Time at={entry.updatedAt} now={now} hours />
      </p>
      {text === undefined || text === entry.text ? (
        <p>The texts are the same.</p>
      ) : (
        <Diff text={textDiff({ version: entry.version, text: entry.text }, { version: entry.version + 1, text })} />
      )}
    </section>
  )
}

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
  const draft = draftOf(entry, queryParameter(visit, 'view') === 'json')
  return editPage(visit, { id: entry.id, name: nameOf(entry), draft })
}

/** Reserved keys whose value is preserved when they are removed from the form, so that deleting a line does not publish a memory. */
const READER_KEYS = ['audience', 'project', 'diary', 'captured']

/** Returns the metadata of the form, with null for each other reserved key that was removed. Numbers keep their digits. */
function metadataOf(entry: Entry, written: string): string {
  const given: unknown = JSON.parse(written)
  if (typeof given !== 'object' || given === null || Array.isArray(given) || Object.keys(given).length === 0)
    return written
  const removed = Object.keys(entry.metadata ?? {}).filter(
    (key) => isReserved(key) && !READER_KEYS.includes(key) && !Object.hasOwn(given, key),
  )
  const nulls = removed.map((key) => `,${JSON.stringify(key)}:null`).join('')
  return `${written.slice(0, written.lastIndexOf('}'))}${nulls}}`
}

const plainLines = (text: string): string => text.replaceAll('\r\n', '\n')
const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

const isLink = (name: FieldName): name is (typeof LINK_FIELDS)[number] =>
  (LINK_FIELDS as readonly FieldName[]).includes(name)

/** Keys that older clients use instead of a field's own; a changed field replaces them. */
const SYNONYMS: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  title: ['task_name'],
  kind: ['type', 'report_type'],
}

/** Returns the patch of one field of the metadata. An empty project keeps its value, because removing it could publish a memory. */
function patchOf(entry: Entry, name: (typeof METADATA_FIELDS)[number], value: string): Record<string, JsonValue> {
  const has = (key: string) => own(entry.metadata, key) !== undefined
  const older = (SYNONYMS[name] ?? []).filter(has).map((key) => [key, null] as const)
  if (name === 'references') return { references: { context_ids: value === '' ? null : listOf(value).map(Number) } }
  if (isLink(name)) return { [name]: value === '' ? null : listOf(value).map(Number) }
  if (name === 'project' && value === '') return {}
  return { ...Object.fromEntries(older), [name]: value === '' ? null : value }
}

/** Returns the arguments that differ from the original form; unchanged fields are not written. */
function changesOf(entry: Entry, { values, json }: Draft): Record<string, unknown> {
  const before = valuesOf(entry)
  const changed = (name: FieldName) =>
    values[name] !== undefined &&
    (name === 'text' ? plainLines(before.text) !== values.text : before[name].trim() !== values[name].trim())
  const patch = Object.assign(
    {},
    ...METADATA_FIELDS.filter(changed).map((name) => patchOf(entry, name, (values[name] ?? '').trim())),
  )
  return {
    ...(changed('text') ? { text: values.text } : {}),
    ...(changed('tags') ? { tags: listOf(values.tags ?? '') } : {}),
    ...(Object.keys(patch).length === 0 ? {} : { metadata_patch: patch }),
    ...(json === null || jsonOf(entry).trim() === json.trim()
      ? {}
      : { metadata: json.trim() === '' ? {} : metadataOf(entry, json.trim()) }),
  }
}

function readDraft({ form }: Visit): Draft {
  const given = FIELDS.flatMap((name) => {
    const value = form.get(name)
    return value === null ? [] : [[name, plainLines(value)] as const]
  })
  const json = form.get('metadata')
  return {
    values: Object.fromEntries(given),
    json: json === null ? null : plainLines(json),
    expected: Number(form.get('expected')),
  }
}

/** Returns the errors that are visible in the form itself. */
function errorsOf({ values, json }: Draft): FieldErrors {
  const found = new Map<string, string>()
  if (values.text !== undefined && values.text.trim() === '') found.set('text', 'Write a text, or delete the memory.')
  for (const name of LINK_FIELDS) {
    const wrong = listOf(values[name] ?? '').find((one) => readId(one) === null)
    if (wrong !== undefined) found.set(name, `${wrong} is not the ID of a memory. Write IDs such as 12, 40.`)
  }
  if (json === null || json.trim() === '') return found
  const flaw = jsonFlaw(json)
  const line = json.split('\n')[(flaw?.line ?? 1) - 1]?.trim().slice(0, 80)
  if (flaw !== null)
    found.set('metadata', `Line ${flaw.line} is not JSON: expected ${flaw.expected}. The line: ${line}`)
  else if (!json.trim().startsWith('{'))
    found.set('metadata', 'Line 1: metadata must be an object, such as {"kind": "note"}.')
  return found
}

/** Finds added links to memories that the person cannot see. The tool accepts them, because agents link memories of others. */
async function unknownLinks(visit: Visit, entry: Entry, { values }: Draft): Promise<FieldErrors> {
  const before = valuesOf(entry)
  const added = LINK_FIELDS.map((name) => {
    const known = new Set(listOf(before[name]))
    return [name, listOf(values[name] ?? '').filter((one) => !known.has(one))] as const
  })
  const ids = [...new Set(added.flatMap(([, own]) => own.map(Number)))]
  if (ids.length === 0) return NO_ERRORS
  const seen = new Set((await visit.services.entries.read(principalOf(visit), ids)).map(({ id }) => id))
  const missing = added.map(([name, own]) => [name, own.find((one) => !seen.has(Number(one)))] as const)
  return new Map(
    missing.flatMap(([name, id]) =>
      id === undefined ? [] : [[name, `Memory ${id} does not exist, or this key cannot see it.`] as const],
    ),
  )
}

/** Finds the field that an error of the tool names. */
function errorAtField(error: Problem, draft: Draft): FieldErrors {
  const details = Array.isArray(error.details) ? error.details : []
  const paths = details.map(({ path }: { path?: unknown }) => String(path ?? ''))
  const named = [...FIELDS, 'metadata' as const].find((name) =>
    paths.some((path) => path === name || path.split(/[.[]/).includes(name)),
  )
  const told = named ?? METADATA_FIELDS.find((name) => error.message.includes(`metadata.${name}`))
  if (told === undefined) return NO_ERRORS
  return new Map([[draft.json !== null && told !== 'text' && told !== 'tags' ? 'metadata' : told, error.message]])
}

export async function storeEdit(visit: Visit): Promise<Page | Response> {
  const entry = await changeable(visit)
  const id = idOf(visit)
  const draft = readDraft(visit)
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
  const name = nameOf(entry)
  const flawed = errorsOf(draft)
  const errors = flawed.size > 0 ? flawed : await unknownLinks(visit, entry, draft)
  if (errors.size > 0)
    return editPage(visit, {
      ...{ id, name, status: 400, draft, errors },
      children: <span>Nothing was stored. Correct the marked {errors.size === 1 ? 'field' : 'fields'}.</span>,
    })
  const changes = changesOf(entry, draft)
  const back = entryAt(id)
  if (Object.keys(changes).length === 0 && draft.expected === entry.version) return seeOther(back)
  try {
    await callTool(visit, updateContext, { context_id: id, expected_version: draft.expected, ...changes })
    return seeOther(withQuery(back, { done: 'changed', from: draft.expected }))
  } catch (error) {
    if (!(error instanceof Problem) || !/^(conflict|invalid_input|limit_exceeded)$/.test(error.code)) throw error
    const isConflict = error.code === 'conflict'
    return editPage(visit, {
      ...{ id, name, status: isConflict ? 409 : 400, errors: errorAtField(error, draft) },
      draft: isConflict ? { ...draft, expected: entry.version } : draft,
      children: isConflict ? (
        <span>
          This memory changed while you were editing. Your text is below.{' '}
          <Beside id={id}>See the current version</Beside>. If you store again, you overwrite it.
        </span>
      ) : (
        <span>{error.message}</span>
      ),
      ...(isConflict ? { theirs: entry } : {}),
    })
  }
}
