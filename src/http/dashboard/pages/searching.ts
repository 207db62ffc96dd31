import type { EntryPreview } from '../../../domain/entry/entry'
import { SOURCES, type Source } from '../../../domain/entry/entry'
import { invalidInput } from '../../../domain/errors'
import { and, ofProject } from '../../../domain/search/filter'
import { RANK_DEPTH } from '../../../domain/search/window'
import { codePointLength } from '../../../domain/text'
import type { RankedResult } from '../../../services/searching/ranked/ranked-page'
import { readFilter } from '../../../tools/filters'
import { namedProjectOrNone } from '../../named-project'
import { plural } from '../parts/words'
import { asked, askedNumber, principalOf, type Visit } from '../visit'
import { type Condition, conditionsOf, toFilter } from './conditions'

/** Reads a search from the address and runs it. */
export const LEGS = ['both', 'words', 'meaning'] as const
export type Leg = (typeof LEGS)[number]
export const MODES = ['match', 'prefix', 'phrase', 'boolean'] as const
export type Mode = (typeof MODES)[number]

export interface Wanted {
  readonly query: string | null
  readonly by: Leg
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

export const readSearch = (visit: Visit): Wanted => ({
  query: asked(visit, 'q'),
  by: oneOf(LEGS, asked(visit, 'by')) ?? 'both',
  mode: oneOf(MODES, asked(visit, 'mode')) ?? 'match',
  thread: asked(visit, 'thread'),
  project: asked(visit, 'project'),
  tag: asked(visit, 'tag'),
  source: oneOf(SOURCES, asked(visit, 'source')),
  from: asked(visit, 'from'),
  to: asked(visit, 'to'),
  conditions: conditionsOf(visit),
})

export const asksNothing = ({ by: _by, mode: _mode, conditions, ...others }: Wanted): boolean =>
  conditions.length === 0 && Object.values(others).every((value) => value === null)

/** @throws Problem invalid_input, or forbidden for a project that the key does not reach */
async function filterOf(visit: Visit, { thread, project, tag, source, from, to, conditions }: Wanted) {
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
const legsOf = ({ config }: Visit, by: Leg) => ({
  fts: config.fts.enabled && by !== 'meaning',
  semantic: config.semantic.enabled && by !== 'words',
})

async function ranked(
  visit: Visit,
  wanted: Wanted,
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
export async function search(visit: Visit, wanted: Wanted): Promise<Found> {
  const offset = askedNumber(visit, 'offset', 0, DEEPEST)
  const asked = await filterOf(visit, wanted)
  const { query } = wanted
  if (query !== null && codePointLength(query) > MAX_QUERY)
    throw invalidInput(`The query is too long: at most ${MAX_QUERY} characters`)
  if (query !== null) return ranked(visit, wanted, query, asked, offset)
  const request = { limit: SIZE, offset, previewLength: PREVIEW }
  const { entries, total, totalIsExact } = await visit.services.entries.page(asked.scope, asked.filter, request)
  const heading = `${totalIsExact === false ? 'at least ' : ''}${plural(total, 'memory', 'memories')}, newest first`
  return { results: entries.map((entry) => ({ entry })), total, warnings: [], heading, offset, size: SIZE }
}
