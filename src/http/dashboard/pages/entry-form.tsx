import type { Child } from 'hono/jsx'
import type { Entry } from '../../../domain/entry/entry'
import { KINDS } from '../../../domain/entry/kind'
import { type JsonValue, own } from '../../../domain/entry/metadata'
import { WORK_STATUSES } from '../../../domain/entry/work'
import { Area, Choice, Field, type FieldErrors, PostForm } from '../parts/form'
import { entryAt, plain } from '../parts/words'

/** The fields of a memory: their values, and their forms on the page of the memory and on its own page. */

/** Fields that lists of IDs fill. */
export const LINK_FIELDS = ['supersedes', 'depends_on', 'contradicts', 'references'] as const

/** Fields that are keys of the metadata. */
export const METADATA_FIELDS = ['title', 'kind', 'status', 'project', 'audience', ...LINK_FIELDS] as const

export const FIELDS = ['text', 'tags', ...METADATA_FIELDS] as const
export type FieldName = (typeof FIELDS)[number]

/** Values of fields, as forms show them. A field that a form does not have is absent. */
export type Values = Readonly<Partial<Record<FieldName, string>>>

const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const idsOf = (value: JsonValue | undefined): string =>
  (Array.isArray(value) ? value : [value])
    .map(textOf)
    .filter((one) => one !== '')
    .join(', ')

export function valuesOf({ text, tags, metadata, project }: Entry): Required<Values> {
  const references = own(metadata, 'references')
  const referenced =
    typeof references === 'object' && references !== null && !Array.isArray(references)
      ? own(references, 'context_ids')
      : undefined
  return {
    text,
    tags: tags.join(', '),
    title: textOf(own(metadata, 'title') ?? own(metadata, 'task_name')),
    kind: textOf(own(metadata, 'kind') ?? own(metadata, 'type') ?? own(metadata, 'report_type')),
    status: textOf(own(metadata, 'status')),
    project: project ?? '',
    audience: textOf(own(metadata, 'audience')) || 'org',
    supersedes: idsOf(own(metadata, 'supersedes')),
    depends_on: idsOf(own(metadata, 'depends_on')),
    contradicts: idsOf(own(metadata, 'contradicts')),
    references: idsOf(referenced),
  }
}

const AUDIENCES = [
  ['org', 'Everyone with access'],
  ['project', 'Everyone in the project'],
  ['private', 'Only its owner'],
] as const

/** A kind that is not in the list is shown as it is stored. */
const kindsWith = (kind: string) => [
  ['', 'automatic'] as const,
  ...(kind === '' || (KINDS as readonly string[]).includes(kind) ? [] : [[kind, plain(kind)] as const]),
  ...KINDS.map((one) => [one, plain(one)] as const),
]

const LABELS = {
  supersedes: 'Replaces',
  depends_on: 'Depends on',
  contradicts: 'Contradicts',
  references: 'Refers to',
} as const

interface FieldsProps {
  readonly values: Values
  readonly errors?: FieldErrors
}

const NONE: FieldErrors = new Map()

export const Title = ({ values, errors = NONE }: FieldsProps) => (
  <Field name="title" label="Title" value={values.title ?? ''} error={errors.get('title')} />
)

/** All fields except the title and the text. */
export const Details = ({ values, errors = NONE }: FieldsProps) => (
  <>
    <div class="fields">
      <Choice
        name="kind"
        label="Kind"
        value={values.kind ?? ''}
        options={kindsWith(values.kind ?? '')}
        error={errors.get('kind')}
      />
      <Field name="status" label="Status" value={values.status ?? ''} list="statuses" error={errors.get('status')} />
      <Field name="project" label="Project" value={values.project ?? ''} error={errors.get('project')} suggest />
      <Choice
        name="audience"
        label="Who can read it"
        value={values.audience ?? 'org'}
        options={AUDIENCES}
        error={errors.get('audience')}
      />
    </div>
    <datalist id="statuses">
      {WORK_STATUSES.map((status) => (
        <option value={status} />
      ))}
    </datalist>
    <Field name="tags" label="Tags" value={values.tags ?? ''} hint="Separated by commas" error={errors.get('tags')} />
    <fieldset class="group">
      <legend>Links</legend>
      <p class="hint">IDs of memories, separated by commas, or words to find one</p>
      <div class="fields short">
        {LINK_FIELDS.map((name) => (
          <Field
            name={name}
            label={LABELS[name]}
            value={values[name] ?? ''}
            error={errors.get(name)}
            finds="memories"
          />
        ))}
      </div>
    </fieldset>
  </>
)

interface InlineProps {
  readonly entry: Entry
  readonly token: string
}

const Inline = ({ entry, token, children }: InlineProps & { readonly children: Child }) => (
  <PostForm action={`${entryAt(entry.id)}/edit`} token={token} class="stack-form more">
    <input type="hidden" name="expected" value={String(entry.version)} />
    {children}
    <p class="actions">
      <button type="submit" class="main">
        Store
      </button>
    </p>
  </PostForm>
)

/** The details of a memory, edited where they are shown. */
export const InlineDetails = ({ entry, token }: InlineProps) => (
  <details class="inline">
    <summary>Edit details</summary>
    <Inline entry={entry} token={token}>
      <Title values={valuesOf(entry)} />
      <Details values={valuesOf(entry)} />
    </Inline>
  </details>
)

/** Code units of a text up to which the page of the memory has a form for it: longer texts have a page of their own. */
const INLINE = 8_000

export const InlineText = ({ entry, token }: InlineProps) =>
  entry.text.length > INLINE ? null : (
    <details class="inline more">
      <summary>Edit text</summary>
      <Inline entry={entry} token={token}>
        <Area name="text" label="Text" value={entry.text} rows={10} />
      </Inline>
    </details>
  )
