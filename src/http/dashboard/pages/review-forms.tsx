import type { ReviewedEntry } from '../../../domain/capture/review'
import { KINDS, type Kind } from '../../../domain/entry/kind'
import { Name } from '../parts/common'
import { Area, Choice, Field, PostForm } from '../parts/form'
import { plain } from '../parts/words'
import { queryParameter, type Visit } from '../visit'

/** The forms of a review: keep, drop, merge. Each has a shortcut key if scripts run. */
/** Parameters of the address that are preserved. */
const CARRIED = ['project', 'client', 'after'] as const

/** Hidden fields that each form passes on: the filter, and the changes that can be undone. */
export const HiddenFields = ({ visit }: { visit: Visit }) => (
  <>
    {CARRIED.map((name) => {
      const value = queryParameter(visit, name)
      return value === null ? null : <input type="hidden" name={name} value={value} />
    })}
    {visit.url.searchParams.getAll('change').map((change) => (
      <input type="hidden" name="change" value={change} />
    ))}
  </>
)

const KIND_OPTIONS = KINDS.map((kind) => [kind, plain(kind)] as const)

/** The most frequent kinds, each with a shortcut key; the others are in a list. */
const USUAL: readonly Kind[] = ['note', 'decision', 'convention', 'gotcha', 'pattern', 'session']

/** A session becomes a note unless another kind is chosen; a proposal has a kind already. */
const KindChoice = ({ kind }: { kind: string }) => {
  const usual = USUAL.find((one) => one === kind && one !== 'session')
  const other = kind === 'session' || usual !== undefined ? '' : kind
  return (
    <>
      <fieldset class="pills">
        <legend>As a</legend>
        {USUAL.map((one, i) => (
          <label>
            <input
              type="radio"
              name="kind"
              value={one}
              checked={one === (usual ?? USUAL[0])}
              data-key={String(i + 1)}
            />
            {plain(one)} <span class="key">{i + 1}</span>
          </label>
        ))}
      </fieldset>
      <Choice
        name="other-kind"
        label="Other kind"
        value={other}
        options={[['', 'none'], ...KIND_OPTIONS.filter(([one]) => !USUAL.includes(one))]}
      />
    </>
  )
}

export const ApproveForm = ({ visit, of }: { visit: Visit; of: ReviewedEntry }) => (
  <PostForm action="/review/keep" token={visit.formToken} class="stack-form" shortcut="a">
    <h2>Approve it</h2>
    <HiddenFields visit={visit} />
    <input type="hidden" name="id" value={String(of.id)} />
    <input type="hidden" name="version" value={String(of.version)} />
    <KindChoice kind={of.kind} />
    <Field name="title" label="Title" value={of.title} />
    <p>
      <button type="submit" class="main wide">
        Approve <kbd>a</kbd>
      </button>
    </p>
  </PostForm>
)

export const Drop = ({ visit, of }: { visit: Visit; of: ReviewedEntry }) => (
  <PostForm action="/review/drop" token={visit.formToken} shortcut="d">
    <HiddenFields visit={visit} />
    <input type="hidden" name="id" value={String(of.id)} />
    <input type="hidden" name="version" value={String(of.version)} />
    <button type="submit" class="bad">
      Drop <kbd>d</kbd>
    </button>
  </PostForm>
)

/** Merges this session and others into one memory that replaces them. */
export const Merge = ({
  visit,
  of,
  others,
  text,
}: {
  visit: Visit
  of: ReviewedEntry
  others: readonly ReviewedEntry[]
  text: string
}) => (
  <details class="card" data-key="m">
    <summary>
      Merge into a memory <kbd>m</kbd>
    </summary>
    <PostForm action="/review/merge" token={visit.formToken} class="stack-form more">
      <HiddenFields visit={visit} />
      <input type="hidden" name="id" value={String(of.id)} />
      <input type="hidden" name="version" value={String(of.version)} />
      {others.length === 0 ? null : (
        <fieldset class="switch">
          <legend>Together with</legend>
          {others.map((other) => (
            <label>
              <input type="checkbox" name="with" value={`${other.id}-${other.version}`} />
              <Name>{other.title ?? `Session ${other.id}`}</Name>
            </label>
          ))}
        </fieldset>
      )}
      <div class="fields">
        <Choice name="merged-kind" label="As one" value="note" options={KIND_OPTIONS} />
        <Field name="merged-title" label="Title of the memory" value={of.title} required />
      </div>
      <Area name="content" label="Text" value={text} rows={8} />
      <p>
        <button type="submit">Merge</button>
      </p>
    </PostForm>
  </details>
)
