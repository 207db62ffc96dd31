import { type EntryPreview, SOURCES, type Source } from '../../../domain/entry/entry'
import { KINDS } from '../../../domain/entry/kind'
import { invalidInput, Problem } from '../../../domain/errors'
import { cosineAt } from '../../../domain/meaning/vector'
import { typoDistance } from '../../../domain/search/alias-match'
import { and, EVERYTHING, type Filter, ofProject } from '../../../domain/search/filter'
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
  Name,
  Note,
  Nothing,
  Pages,
  ProjectLink,
  Tags,
  ThreadLink,
  Time,
} from '../parts/common'
import { Choice, Field } from '../parts/form'
import { count, day, entryAt, plain, plural, samePage, score } from '../parts/words'
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

export const SORTS = ['best', 'newest', 'oldest'] as const
export type Sort = (typeof SORTS)[number]

export interface SearchFormState {
  readonly query: string | null
  readonly by: Retriever
  readonly mode: Mode
  readonly thread: string | null
  readonly project: string | null
  readonly tag: string | null
  readonly source: Source | null
  readonly kind: (typeof KINDS)[number] | null
  /** Stored by this agent or owner. */
  readonly agent: string | null
  /** Captured sessions of the visitor, instead of listed memories. */
  readonly captured: 'yes' | null
  readonly sort: Sort
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
/** Characters of the query in the message of a search without a result. */
const QUERY_SHOWN = 80
/** The warning of a search that suggests words. */
const SUGGESTED = /did you mean (.+)\?/
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
  kind: oneOf(KINDS, queryParameter(visit, 'kind')),
  agent: queryParameter(visit, 'agent'),
  captured: oneOf(['yes'], queryParameter(visit, 'captured')),
  sort: oneOf(SORTS, queryParameter(visit, 'sort')) ?? 'best',
  from: queryParameter(visit, 'from'),
  to: queryParameter(visit, 'to'),
  conditions: conditionsOf(visit),
})

export const asksNothing = ({ by: _by, mode: _mode, sort: _sort, conditions, ...others }: SearchFormState): boolean =>
  conditions.length === 0 && Object.values(others).every((value) => value === null)

/** @throws Problem invalid_input, or forbidden for a project that the key does not reach */
async function filterOf(visit: Visit, wanted: SearchFormState) {
  const { thread, project, tag, source, from, to, conditions, kind, agent, captured } = wanted
  const principal = principalOf(visit)
  const { filter } = readFilter({
    ...(thread === null ? {} : { thread_id: thread }),
    ...(tag === null ? {} : { tags: [tag] }),
    ...(source === null ? {} : { source }),
    ...(from === null ? {} : { start_date: from }),
    ...(to === null ? {} : { end_date: to }),
    ...(conditions.length === 0 ? {} : { metadata_filters: conditions.map(toFilter) }),
  })
  const { scope, project: is } = await namedProjectOrNone(visit.services, principal, project)
  const further: Filter[] = [
    ...(is === null ? [] : [ofProject('project', scope, is)]),
    ...(kind === null ? [] : [{ op: 'kind', anyOf: [kind] } as const]),
    ...(agent === null ? [] : [{ op: 'by', is: agent } as const]),
    ...(captured === null ? [] : [{ op: 'capturedOf', owner: principal.owner ?? '' } as const]),
  ]
  return { scope, filter: further.length === 0 ? filter : and([filter, ...further]) }
}

/** Returns which kinds of search are available and requested. */
const legsOf = ({ config }: Visit, by: Retriever) => ({
  fts: config.fts.enabled && by !== 'meaning',
  semantic: config.semantic.enabled && by !== 'words',
})

/** Sorts results by the time of their creation. */
const byTime = (results: readonly RankedResult[], sort: Sort): readonly RankedResult[] =>
  results.toSorted((a, b) => (b.entry.createdAt - a.entry.createdAt) * (sort === 'oldest' ? -1 : 1))

async function ranked(
  visit: Visit,
  wanted: SearchFormState,
  query: string,
  { scope: principal, filter }: Awaited<ReturnType<typeof filterOf>>,
  offset: number,
): Promise<Found> {
  const { services, config } = visit
  // The best results are sorted by time, so that a sort does not bring in weak ones.
  const isByTime = wanted.sort !== 'best'
  const window = isByTime ? { limit: RANK_DEPTH, offset: 0 } : { limit: SIZE, offset }
  const request = { query, filter, ...window, previewLength: PREVIEW }
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
  const heading = `${page.total === RANK_DEPTH ? `The best ${RANK_DEPTH} memories` : plural(page.total, 'memory', 'memories')}, ${wanted.sort} first`
  const results = isByTime ? byTime(page.results, wanted.sort).slice(offset, offset + SIZE) : page.results
  return { ...page, results, warnings, heading, offset, size: SIZE }
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

/**
 * Suggests a spelling from all memories that the visitor may see, for a search that found nothing. A search with filters or by prefixes
 * does not suggest any itself.
 */
async function spelled(visit: Visit, wanted: SearchFormState, found: Found): Promise<Found> {
  const { query, by } = wanted
  const { config, services } = visit
  const isSuggested = found.warnings.some((warning) => SUGGESTED.test(warning))
  if (query === null || found.total > 0 || isSuggested || by === 'meaning' || !config.fts.enabled) return found
  const request = { query, filter: EVERYTHING, limit: 1, offset: 0, previewLength: 1 } as const
  const { warnings } = await services.rankedSearches.byWords(principalOf(visit), {
    ...request,
    ...{ mode: 'match', highlight: false },
  })
  return { ...found, warnings: [...found.warnings, ...warnings.filter((warning) => SUGGESTED.test(warning))] }
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
  return (
    <details class="more" open={conditions.length > 0 || mode !== 'match'}>
      <summary>Filters</summary>
      <div class="fields">
        <Field name="project" label="Project" value={project} suggest />
        <Choice
          name="kind"
          label="Kind"
          value={wanted.kind}
          options={[['', 'any'], ...KINDS.map((kind) => [kind, plain(kind)] as const)]}
        />
        <Field name="agent" label="Agent or owner" value={wanted.agent} suggest />
        <Field name="tag" label="Tag" value={tag} suggest />
        <Field name="thread" label="Thread" value={thread} suggest />
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
        <Choice
          name="captured"
          label="Captured sessions"
          value={wanted.captured}
          options={[
            ['', 'left out'],
            ['yes', 'only these'],
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
      <p class="actions">
        <button type="submit" class="main">
          Apply filters
        </button>
      </p>
    </details>
  )
}

export const SearchForm = ({ visit, visit: { config }, wanted }: { visit: Visit; wanted: SearchFormState }) => (
  <search>
    <form method="get" action="/search" class="card" data-live={principalOf(visit).keyId}>
      <div class="searchbox">
        <input
          type="search"
          name="q"
          value={wanted.query ?? ''}
          aria-label="Search memories"
          placeholder="Search memories"
          autocomplete="off"
          maxlength={10_000}
          data-key="/"
        />
        <button type="submit" class="main">
          Search
        </button>
      </div>
      <div class="search-row">
        {config.fts.enabled && config.semantic.enabled ? (
          <fieldset class="switch">
            <legend>Match</legend>
            {RETRIEVERS.map((leg) => (
              <label>
                <input type="radio" name="by" value={leg} checked={wanted.by === leg} />
                {LEG_WORDS[leg]}
              </label>
            ))}
          </fieldset>
        ) : null}
        <div class="sort">
          {/* Without a query the newest memories come first. */}
          {wanted.query === null ? null : (
            <>
              <label for="sort">Sort</label>
              <select id="sort" name="sort">
                {SORTS.map((sort) => (
                  <option value={sort} selected={sort === wanted.sort}>
                    {{ best: 'Best match', newest: 'Newest of the best', oldest: 'Oldest of the best' }[sort]}
                  </option>
                ))}
              </select>
            </>
          )}
        </div>
      </div>
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
    ...(ftsScore === null ? [] : [{ name: 'Words', rank: ftsRank, detail: `score ${score(ftsScore)}` }]),
    ...(cosine === null ? [] : [{ name: 'Meaning', rank: semanticRank, detail: `similarity ${score(cosine)}` }]),
    ...(fused === null ? [] : [{ name: 'Combined', rank: null, detail: score(fused) }]),
    ...(rerankScore === null ? [] : [{ name: 'Reranked', rank: null, detail: score(rerankScore) }]),
  ]
  if (reasons.length === 0) return null
  return (
    <p class="why">
      {reasons.map(({ name, rank, detail }) => (
        <span>
          <b>{name}</b>{' '}
          {rank === null ? (
            detail
          ) : (
            <>
              rank {rank}
              <span class="detail">, {detail}</span>
            </>
          )}
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

const CHIP_NAMES = ['project', 'kind', 'agent', 'tag', 'thread', 'source', 'captured', 'from', 'to'] as const
const CHIP_LABELS: Readonly<Record<string, string>> = { from: 'from', to: 'until', source: 'author' }

/** A filter in use, in words, and the address of the search without it. */
interface FilterInUse {
  readonly name: string
  readonly value: string
  readonly without: string
}

const withoutCondition = ({ url }: Visit, conditions: readonly Condition[]): string => {
  const query = new URLSearchParams(url.search)
  for (const name of ['field', 'op', 'value', 'offset', 'live']) query.delete(name)
  for (const { key, operator, value } of conditions) {
    query.append('field', key)
    query.append('op', operator)
    query.append('value', value)
  }
  return query.size === 0 ? url.pathname : `${url.pathname}?${query}`
}

function filtersOf(visit: Visit, wanted: SearchFormState): FilterInUse[] {
  const named = CHIP_NAMES.flatMap((name) => {
    const value = wanted[name]
    if (value === null) return []
    const without = samePage(visit.url, { [name]: null, offset: null, live: null })
    if (name === 'captured') return [{ name: 'captured sessions', value: 'only', without }]
    const isDay =
      (name === 'from' || name === 'to') && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    const shown = isDay ? day(Date.parse(value), visit.services.now()) : name === 'kind' ? plain(value) : value
    return [{ name: CHIP_LABELS[name] ?? name, value: shown, without }]
  })
  const conditions = wanted.conditions.map(({ key, operator, value }, place) => ({
    name: `${key} ${OPERATOR_WORDS[operator as Operator] ?? operator}`,
    value: takesNoValue(operator) ? '' : value,
    without: withoutCondition(visit, wanted.conditions.toSpliced(place, 1)),
  }))
  return [...named, ...conditions]
}

const inWords = ({ name, value }: Pick<FilterInUse, 'name' | 'value'>): string =>
  value === '' ? name : `${name} ${value}`

/** The address of the search without any filter. */
const unfiltered = (visit: Visit): string =>
  samePage(new URL(withoutCondition(visit, []), visit.url), Object.fromEntries(CHIP_NAMES.map((name) => [name, null])))

/** The filters in use, each with a link that removes it. */
const Chips = ({ visit, filters }: { visit: Visit; filters: readonly FilterInUse[] }) =>
  filters.length === 0 ? null : (
    <div class="filters">
      <ul class="chips" aria-label="Filters in use">
        {filters.map((filter) => (
          <li>
            <span>{filter.name}</span>
            {filter.value === '' ? null : <Name>{filter.value}</Name>}
            <a href={filter.without} aria-label={`Remove the filter ${inWords(filter)}`}>
              ×
            </a>
          </li>
        ))}
      </ul>
      {filters.length === 1 ? null : <a href={unfiltered(visit)}>Remove all filters</a>}
    </div>
  )

/** Names the search that has no result, and what to do next. */
function NoResult({
  visit,
  wanted,
  found,
  filters,
}: {
  visit: Visit
  wanted: SearchFormState
  found: Found
  filters: readonly FilterInUse[]
}) {
  const query = wanted.query === null ? '' : ` matches “${truncate(wanted.query, QUERY_SHOWN).text}”`
  const names = filters.map(inWords)
  const last = names.length > 1 ? ` and ${names.at(-1)}` : ''
  const listed = names.length > 1 ? names.slice(0, -1).join(', ') : names.join('')
  return (
    <Nothing
      title={`No memory${query === '' && filters.length === 0 ? ' matches' : query}${names.length === 0 ? '' : ` with ${listed}${last}`}`}
    >
      <Spelling visit={visit} found={found} />
      {filters.length === 0 ? (
        <p>
          Try other words{wanted.by === 'words' ? ', or search by meaning' : ''}. You see only what your key can read.
        </p>
      ) : (
        <p>
          <a href={unfiltered(visit)}>Remove all filters</a>, or try other words.
        </p>
      )}
    </Nothing>
  )
}

/** The query with the words that the search suggests, each instead of the most similar word. */
export function corrected(query: string, words: readonly string[]): string {
  const parts = query.split(/(\s+)/)
  for (const word of words) {
    const slips = parts.map((part) => (part.trim() === '' ? 9 : typoDistance(word, part.toLowerCase(), 2)))
    const place = slips.indexOf(Math.min(...slips))
    if ((slips[place] ?? 9) <= 2) parts[place] = word
  }
  return parts.join('')
}

/** The spelling that the search suggests, from words of memories that the visitor may see. */
const Spelling = ({ visit, found }: { visit: Visit; found: Found }) => {
  const words = found.warnings.map((one) => SUGGESTED.exec(one)?.[1]).find((one) => one !== undefined)
  const query = queryParameter(visit, 'q')
  if (words === undefined || query === null) return null
  const spelled = corrected(query, words.split(', '))
  return (
    <p>
      Did you mean <a href={samePage(visit.url, { q: spelled, offset: null, live: null })}>{spelled}</a>?
    </p>
  )
}

/** Searches memories and shows why each result was found. The address holds the search. */
const Results = ({
  visit,
  wanted,
  found,
  filters,
}: {
  visit: Visit
  wanted: SearchFormState
  found: Found
  filters: readonly FilterInUse[]
}) => (
  <>
    {found.warnings
      .filter((warning) => !SUGGESTED.test(warning))
      .map((warning) => (
        <Note>{warning}</Note>
      ))}
    {found.total > 0 ? <Spelling visit={visit} found={found} /> : null}
    <section class="card">
      {found.total > 0 ? (
        <h2>{found.heading}</h2>
      ) : (
        <NoResult visit={visit} wanted={wanted} found={found} filters={filters} />
      )}
      <ol class="list" id="list" tabindex={-1}>
        {found.results.map((result) => (
          <Result of={result} now={visit.services.now()} />
        ))}
      </ol>
      <Pages
        {...{
          url: visit.url,
          isRanked: wanted.query !== null,
          offset: found.offset,
          total: found.total,
          size: found.size,
        }}
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
    return await spelled(visit, wanted, await search(visit, wanted))
  } catch (error) {
    if (error instanceof Problem && (error.code === 'invalid_input' || error.code === 'limit_exceeded')) return error
    throw error
  }
}

export async function searchPage(visit: Visit): Promise<Page> {
  principalOf(visit)
  // While a person types, words are compared alone, the last one as a prefix.
  const isLive = queryParameter(visit, 'live') !== null && visit.config.fts.enabled
  const wanted = { ...readSearch(visit), ...(isLive ? ({ by: 'words', mode: 'prefix' } as const) : {}) }
  const found = await sought(visit, wanted)
  const filters = filtersOf(visit, wanted)
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
        <div id="results" class="stack">
          <Chips visit={visit} filters={filters} />
          {found === null ? (
            <section class="card">
              <Nothing title="Search as an agent does">
                <p>
                  Ask a question, or enter exact names and errors. Each result shows why it was found. Filters without
                  words list the newest memories.
                </p>
              </Nothing>
            </section>
          ) : found instanceof Problem ? (
            <Note bad>{found.message}</Note>
          ) : (
            <Results visit={visit} wanted={wanted} found={found} filters={filters} />
          )}
        </div>
      </div>
    ),
  }
}
