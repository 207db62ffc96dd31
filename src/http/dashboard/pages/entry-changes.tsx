import type { Entry } from '../../../domain/entry/entry'
import { type JsonValue, own } from '../../../domain/entry/metadata'
import type { Scope } from '../../../domain/identity/scope'
import { jsonText } from '../../../domain/json/write'
import { firstCodePoints } from '../../../domain/text'
import { attempt } from '../../../services/outcome'
import type { DiffedPage } from '../../../services/searching/history/read-history'
import type { Services } from '../../../services/services'
import { Name } from '../parts/common'
import { plain } from '../parts/words'

/** Shows which tags and metadata a version changed, from which value to which. */

/** A tag list or a key of the metadata; a value is null where it is absent. */
interface ChangedValue {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
}

/** The changed values of versions, by version. */
export type ChangedValues = ReadonlyMap<number, readonly ChangedValue[]>

/** Newest versions of a page whose values are compared, which bounds the states that it reads. */
const COMPARED = 5
const VALUE = 120

/** A list of names or IDs as people read it; other values as JSON. */
const wordsOf = (value: JsonValue): string => {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.map(String).join(', ')
  return jsonText(value)
}

/** `references` without the name of its list, which the form does not show either. */
const shownOf = (value: JsonValue): JsonValue => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const ids = own(value, 'context_ids')
  return ids !== undefined && Object.keys(value).length === 1 ? ids : value
}

const textOf = (value: JsonValue | undefined): string | null => {
  if (value === undefined) return null
  const text = wordsOf(shownOf(value))
  const short = firstCodePoints(text, VALUE)
  return short.length < text.length ? `${short}…` : short
}

type State = Pick<Entry, 'tags' | 'metadata'>

export function changedValues(before: State, after: State): ChangedValue[] {
  const names = new Set([...Object.keys(before.metadata ?? {}), ...Object.keys(after.metadata ?? {})])
  const [tags, tagsAfter] = [before, after].map((state) => state.tags.toSorted().join(', '))
  return [
    ...[...names]
      .filter((name) => jsonText(own(before.metadata, name) ?? null) !== jsonText(own(after.metadata, name) ?? null))
      .map((name) => ({
        name,
        before: textOf(own(before.metadata, name)),
        after: textOf(own(after.metadata, name)),
      })),
    ...(tags === tagsAfter ? [] : [{ name: 'tags', before: tags || null, after: tagsAfter || null }]),
  ]
}

/** Compares the newest versions whose tags or metadata changed with the ones before. Versions that are not visible are skipped. */
export async function readChangedValues(
  readHistory: Services['readHistory'],
  scope: Scope,
  id: number,
  { versions }: DiffedPage,
): Promise<ChangedValues> {
  const wanted = versions
    .flatMap(({ version, action, changed }, i) =>
      action !== 'deleted' && changed?.some((part) => part === 'metadata' || part === 'tags')
        ? [{ version, before: versions[i + 1]?.version ?? version - 1 }]
        : [],
    )
    .slice(0, COMPARED)
  const needed = [...new Set(wanted.flatMap(({ version, before }) => [version, before]))]
  const states = new Map(
    await Promise.all(
      needed.map(async (version) => [version, await attempt(() => readHistory.state(scope, id, version))] as const),
    ),
  )
  return new Map(
    wanted.flatMap(({ version, before }) => {
      const [then, now] = [states.get(before), states.get(version)]
      return then?.ok && now?.ok ? [[version, changedValues(then.value, now.value)] as const] : []
    }),
  )
}

export const ChangedList = ({ of }: { of: readonly ChangedValue[] }) =>
  of.length === 0 ? null : (
    <dl class="changed">
      {of.map(({ name, before, after }) => (
        <div>
          <dt>
            <Name>{plain(name)}</Name>
          </dt>
          <dd>
            {before === null ? null : <del>{before}</del>}
            {before !== null && after !== null ? <span aria-hidden="true"> → </span> : null}
            {after === null ? <span class="soft"> removed</span> : <ins>{after}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  )
