import { type EntryPreview, SOURCES, type Source } from '../../../domain/entry/entry'
import { invalidInput, Problem } from '../../../domain/errors'
import { cosineAt } from '../../../domain/meaning/vector'
import { and, ofProject } from '../../../domain/search/filter'
import { RANK_DEPTH } from '../../../domain/search/window'
import { codePointLength, truncate } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import type { RankedResult } from '../../../services/searching/ranked/ranked-page'
import { readFilter } from '../../../tools/filters'
import { OPERATORS, type Operator, takesList, takesNoValue } from '../../../tools/metadata-filters'
import { STATUS } from '../../error-body'
import { namedProjectOrNone } from '../../named-project'
import type { Page } from '../page'
import {
  By,
  EntryLink,
  Facts,
  Images,
  KindLabel,
  Note,
  Nothing,
  Pages,
  ProjectLink,
  Tags,
  ThreadLink,
  Time,
} from '../parts/common'
import { Choice, Field } from '../parts/form'
import { count, entryAt, plural, score } from '../parts/words'
import { principalOf, queryNumber, queryParameter, type Visit } from '../visit'

/** Parses the conditions on metadata of a search form into filters. */

export interface Condition {
  readonly key: string
  readonly operator: string
  readonly value: string
}

/** Parameter names that the guard does not mistake for a key in the address. */
export function conditionsOf({ url: { searchParams } }: Visit): Condition[] {
  const [keys, operators, values] = ['field', 'op', 'value'].map((name) => searchParams.getAll(name))
  return (keys ?? [])
    .map((key, i) => ({ key: key.trim(), operator: operators?.[i] ?? 'eq', value: values?.[i] ?? '' }))
    .filter(({ key }) => key !== '')
}

/** Parses a typed value: a number or a boolean where it looks like one; between quotes always text. */
function scalarOf(text: string): string | number | boolean {
  const quoted = /^"(.*)"$/s.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(text) ? Number(text) : text
}

export const toFilter = ({ key, operator, value }: Condition) => ({
  key,
  operator,
  ...(takesNoValue(operator)
    ? {}
    : { value: takesList(operator) ? value.split(',').map((one) => scalarOf(one.trim())) : scalarOf(value) }),
})

/** Reads a search from the address and runs it. */
export const RETRIEVERS = ['both', 'words', 'meaning'] as const
export type Retriever = (typeof RETRIEVERS)[number]
export const MODES = ['match', 'prefix', 'phrase', 'boolean'] as const
export type Mode = (typeof MODES)[number]

export interface SearchFormState {
  readonly query: string | null
  readonly by: Retriever
  readonly mode: Mode
  readonly thread: string | null
  readonly project: string | null
  readonly tag: string | null
  readonly source: Source | null
  readonly from: string | null
  readonly to: string | null
  readonly conditions: readonly Condition[]
}

/** A result in a list, with scores if words or meaning were searched. */
export interface FoundEntry extends Omit<Partial<RankedResult>, 'entry'> {
  readonly entry: EntryPreview
}

export interface Found {
  readonly results: readonly FoundEntry[]
  readonly total: number
  /** Whether there are more than `total`. */
  readonly isCut?: boolean
  readonly warnings: readonly string[]
  /** The total, and the order. */
  readonly heading: string
  readonly offset: number
  readonly size: number
}

const SIZE = 20
const PREVIEW = 320
const MAX_QUERY = 10_000
const DEEPEST = 1_000_000
const NEAR = 'No memory contains these words. These are the most similar by meaning.'

const oneOf = <T extends string>(options: readonly T[], value: string | null): T | null =>
  options.find((option) => option === value) ?? null

export const readSearch = (visit: Visit): SearchFormState => ({
  query: queryParameter(visit, 'q'),
  by: oneOf(RETRIEVERS, queryParameter(visit, 'by')) ?? 'both',
  mode: oneOf(MODES, queryParameter(visit, 'mode')) ?? 'match',
  thread: queryParameter(visit, 'thread'),
  project: queryParameter(visit, 'project'),
  tag: queryParameter(visit, 'tag'),
  source: oneOf(SOURCES, queryParameter(visit, 'source')),
  from: queryParameter(visit, 'from'),
  to: queryParameter(visit, 'to'),
  conditions: conditionsOf(visit),
})

export const asksNothing = ({ by: _by, mode: _mode, conditions, ...others }: SearchFormState): boolean =>
  conditions.length === 0 && Object.values(others).every((value) => value === null)

/** @throws Problem invalid_input, or forbidden for a project that the key does not reach */
async function filterOf(visit: Visit, { thread, project, tag, source, from, to, conditions }: SearchFormState) {
  const { filter } = readFilter({
    ...(thread === null ? {} : { thread_id: thread }),
    ...(tag === null ? {} : { tags: [tag] }),
    ...(source === null ? {} : { source }),
    ...(from === null ? {} : { start_date: from }),
    ...(to === null ? {} : { end_date: to }),
    ...(conditions.length === 0 ? {} : { metadata_filters: conditions.map(toFilter) }),
  })
  const { scope, project: is } = await namedProjectOrNone(visit.services, principalOf(visit), project)
  return { scope, filter: is === null ? filter : and([filter, ofProject('project', scope, is)]) }
}

/** Returns which kinds of search are available and requested. */
const legsOf = ({ config }: Visit, by: Retriever) => ({
  fts: config.fts.enabled && by !== 'meaning',
  semantic: config.semantic.enabled && by !== 'words',
})

async function ranked(
  visit: Visit,
  wanted: SearchFormState,
  query: string,
  { scope: principal, filter }: Awaited<ReturnType<typeof filterOf>>,
  offset: number,
): Promise<Found> {
  const { services, config } = visit
  const request = { query, filter, limit: SIZE, offset, previewLength: PREVIEW }
  const legs = legsOf(visit, wanted.by)
  const searches = services.rankedSearches
  if (!legs.fts && !legs.semantic) throw invalidInput('This kind of search is switched off on this server')
  const page = !legs.semantic
    ? await searches.byWords(principal, { ...request, mode: wanted.mode, highlight: true })
    : !legs.fts
      ? await searches.byMeaning(principal, request)
      : await searches.byBoth(principal, {
          ...request,
          ...{ method: config.hybrid.fusion, k: config.hybrid.k, legs, highlight: true },
        })
  const isNear = 'ftsCount' in page && page.ftsCount === 0 && legs.fts && page.results.length > 0
  const warnings = isNear ? [...page.warnings, NEAR] : page.warnings
  const heading =
    page.total === RANK_DEPTH
      ? `The best ${RANK_DEPTH} memories`
      : `${plural(page.total, 'memory', 'memories')}, best first`
  return { ...page, warnings, heading, offset, size: SIZE }
}

/** @throws Problem of the search services */
export async function search(visit: Visit, wanted: SearchFormState): Promise<Found> {
  const offset = queryNumber(visit, 'offset', 0, DEEPEST)
  const asked = await filterOf(visit, wanted)
  const { query } = wanted
  if (query !== null && codePointLength(query) > MAX_QUERY)
    throw invalidInput(`The query is too long: at most ${MAX_QUERY} characters`)
  if (query !== null) return ranked(visit, wanted, query, asked, offset)
  const request = { limit: SIZE, offset, previewLength: PREVIEW }
  const { entries, total, totalIsExact } = await visit.services.entries.page(asked.scope, asked.filter, request)
  const isCut = totalIsExact === false
  const heading = `${isCut ? `${count(total)}+ memories` : plural(total, 'memory', 'memories')}, newest first`
  return { results: entries.map((entry) => ({ entry })), total, isCut, warnings: [], heading, offset, size: SIZE }
}

/** The form of a search. Without a script there is one empty row for a further condition. */
const LEG_WORDS: Readonly<Record<Retriever, string>> = { both: 'Words and meaning', words: 'Words', meaning: 'Meaning' }

/** Labels of the comparisons. */
const OPERATOR_WORDS: Readonly<Record<Operator, string>> = {
  eq: 'is',
  ne: 'is not',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  in: 'is one of',
  not_in: 'is none of',
  exists: 'is there',
  not_exists: 'is missing',
  contains: 'contains',
  starts_with: 'begins with',
  ends_with: 'ends with',
  is_null: 'is null',
  is_not_null: 'is not null',
  array_contains: 'is a list that contains',
}

const ConditionRow = ({ of: { key, operator, value } }: { of: Condition }) => (
  <div>
    <input
      name="field"
      value={key}
      aria-label="Metadata key"
      placeholder="key, as in status or a.b"
      autocomplete="off"
    />
    <select name="op" aria-label="Comparison">
      {OPERATORS.map((one) => (
        <option value={one} selected={one === operator}>
          {OPERATOR_WORDS[one]}
        </option>
      ))}
    </select>
    <input name="value" value={value} aria-label="Value" placeholder="value" autocomplete="off" />
  </div>
)

const EMPTY: Condition = { key: '', operator: 'eq', value: '' }

const Conditions = ({ wanted }: { wanted: SearchFormState }) => {
  const { thread, project, tag, source, from, to, conditions, mode } = wanted
  const isOpen = [thread, project, tag, source, from, to].some((value) => value !== null) || conditions.length > 0
  return (
    <details class="more" open={isOpen || mode !== 'match'}>
      <summary>Conditions</summary>
      <div class="fields">
        <Field name="thread" label="Thread" value={thread} />
        <Field name="project" label="Project" value={project} />
        <Field name="tag" label="Tag" value={tag} />
        <Choice
          name="source"
          label="Author"
          value={source}
          options={[
            ['', 'anyone'],
            ['user', 'people'],
            ['agent', 'agents'],
          ]}
        />
        <Field name="from" label="From" value={from} type="date" />
        <Field name="to" label="Until" value={to} type="date" />
        <Choice
          name="mode"
          label="Words are"
          value={mode}
          options={MODES.map((one) => [
            one,
            { match: 'matched', prefix: 'prefixes', phrase: 'a phrase', boolean: 'a boolean query' }[one],
          ])}
        />
      </div>
      <fieldset class="switch">
        <legend>Metadata</legend>
      </fieldset>
      <div class="conditions">
        {[...conditions, EMPTY].map((one) => (
          <ConditionRow of={one} />
        ))}
      </div>
    </details>
  )
}

export const SearchForm = ({ visit: { config }, wanted }: { visit: Visit; wanted: SearchFormState }) => (
  <search>
    <form method="get" action="/search" class="card">
      <div class="searchbox">
        <input
          type="search"
          name="q"
          value={wanted.query ?? ''}
          aria-label="Search memories"
          placeholder="What do we know about …"
          autocomplete="off"
          maxlength={10_000}
        />
        <button type="submit" class="main">
          Search
        </button>
      </div>
      {config.fts.enabled && config.semantic.enabled ? (
        <fieldset class="switch">
          <legend>By</legend>
          {RETRIEVERS.map((leg) => (
            <label>
              <input type="radio" name="by" value={leg} checked={wanted.by === leg} />
              {LEG_WORDS[leg]}
            </label>
          ))}
        </fieldset>
      ) : null}
      <Conditions wanted={wanted} />
    </form>
  </search>
)

/** Shows one result with its ranks and scores, the same as agents get. */
const SHOWN = 300

/** Renders a text with its hits, which the highlighter puts between marks; everything else is text. */
const Highlighted = ({ text }: { text: string }) => (
  <>
    {text.split(/(<mark>.*?<\/mark>)/s).map((part) => {
      const hit = /^<mark>(.*)<\/mark>$/s.exec(part)?.[1]
      return hit === undefined ? part : <mark>{hit}</mark>
    })}
  </>
)

function Why({ of: found }: { of: FoundEntry }) {
  const {
    ftsRank = null,
    ftsScore = null,
    semanticRank = null,
    distance = null,
    fused = null,
    rerankScore = null,
  } = found
  const cosine = distance === null ? null : cosineAt(distance)
  const reasons = [
    ...(ftsScore === null ? [] : [['Words', `${ftsRank === null ? '' : `rank ${ftsRank}, `}score ${score(ftsScore)}`]]),
    ...(cosine === null
      ? []
      : [['Meaning', `${semanticRank === null ? '' : `rank ${semanticRank}, `}similarity ${score(cosine)}`]]),
    ...(fused === null ? [] : [['Together', score(fused)]]),
    ...(rerankScore === null ? [] : [['Reranked', score(rerankScore)]]),
  ]
  if (reasons.length === 0) return null
  return (
    <p class="why">
      {reasons.map(([name, value]) => (
        <span>
          <b>{name}</b> {value}
        </span>
      ))}
    </p>
  )
}

export const Result = ({ of: found, now }: { of: FoundEntry; now: Millis }) => {
  const { entry, highlighted = null } = found
  return (
    <li data-row data-edit={`${entryAt(entry.id)}/edit`}>
      <p class="title">
        <EntryLink entry={entry} />
        <Time at={entry.createdAt} now={now} />
      </p>
      <p class="excerpt">
        {highlighted === null ? truncate(entry.text, SHOWN).text : <Highlighted text={highlighted} />}
      </p>
      <Facts>
        <KindLabel kind={entry.kind} />
        <By entry={entry} />
        {entry.project === null ? null : <ProjectLink project={entry.project} />}
        <ThreadLink id={entry.threadId} />
        <Tags tags={entry.tags} />
      </Facts>
      <Why of={found} />
      <Images of={entry} />
    </li>
  )
}

/** Searches memories and shows why each result was found. The address holds the search. */
const Results = ({ visit, found, isRanked }: { visit: Visit; found: Found; isRanked: boolean }) => (
  <>
    {found.warnings.map((warning) => (
      <Note>{warning}</Note>
    ))}
    <section class="card">
      {found.total > 0 ? (
        <h2>{found.heading}</h2>
      ) : (
        <Nothing title="No matching memory that this key can see">
          <p>Try other words, search by meaning, or remove conditions.</p>
        </Nothing>
      )}
      <ol class="list" id="list" tabindex={-1}>
        {found.results.map((result) => (
          <Result of={result} now={visit.services.now()} />
        ))}
      </ol>
      <Pages
        {...{ url: visit.url, isRanked, offset: found.offset, total: found.total, size: found.size }}
        shown={found.results.length}
        isCut={found.isCut === true}
      />
    </section>
  </>
)

/** Shows the results, or the error, below the form. */
async function sought(visit: Visit, wanted: SearchFormState): Promise<Found | Problem | null> {
  if (asksNothing(wanted)) return null
  try {
    return await search(visit, wanted)
  } catch (error) {
    if (error instanceof Problem && (error.code === 'invalid_input' || error.code === 'limit_exceeded')) return error
    throw error
  }
}

export async function searchPage(visit: Visit): Promise<Page> {
  principalOf(visit)
  const wanted = readSearch(visit)
  const found = await sought(visit, wanted)
  return {
    status: found instanceof Problem ? STATUS[found.code] : 200,
    title: wanted.query === null ? 'Search' : `Search: ${wanted.query}`,
    at: '/search',
    ...(found === null || found instanceof Problem || found.results.length === 0 ? {} : { list: 'Skip to results' }),
    body: (
      <div class="stack">
        <div class="head">
          <h1>Search</h1>
        </div>
        <SearchForm visit={visit} wanted={wanted} />
        {found === null ? (
          <section class="card">
            <Nothing title="Search as an agent does">
              <p>
                A question finds what was said in other words; names of files and errors are found by their letters.
                Each result shows why it was found. With conditions only, the newest memories are listed.
              </p>
            </Nothing>
          </section>
        ) : found instanceof Problem ? (
          <Note bad>{found.message}</Note>
        ) : (
          <Results visit={visit} found={found} isRanked={wanted.query !== null} />
        )}
      </div>
    ),
  }
}
