import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import { aliasesOf } from '../../../../domain/entry/title'
import type { Scope } from '../../../../domain/identity/scope'
import type { WorkContext } from '../../../../domain/recall/work-context'
import type { Filter } from '../../../../domain/search/filter'
import type { Expression, Unit } from '../../../../domain/search/query'
import { type ScoredTerm, scoredTerms } from '../../../../domain/search/score'
import {
  type EntryText,
  type FullText,
  SCORED_LENGTH,
  type TextColumn,
  type TextHit,
  type TextRequest,
  type TextSearch,
} from '../../../../ports/full-text'
import type { Row } from '../../core/connection'
import { json, jsonOrNull, num, numOrNull, str, strOrNull, unpackedColumns } from '../../core/rows'
import { layerOf } from '../entries/entry-rows'
import { toMemoryInContext } from '../memories/work-context'
import type { Confined } from './scope-terms'

/**
 * Rules by which a full-text search chooses its candidates; the same on both databases, which implement them differently.
 */

/**
 * Minimum content words of each length step. Candidates are compared by steps, so that an index finds the shortest of thousands without
 * reading each; the scorer uses exact numbers.
 */
export const LENGTH_STEPS = [0, 4, 8, 12, 17, 23, 30, 38, 48, 60, 75, 95, 125, 170, 250, 450] as const

/** Returns the index in `LENGTH_STEPS` for a number of content words. */
export const stepOf = (words: number): number => LENGTH_STEPS.findLastIndex((from) => from <= words)

/** Returns the factor of a word in an entry of this length: that of the scorer for one occurrence. */
const brevityFrom = (words: number): number => 1 + 2.2 / (1.3 + words / 55)

/** Factor of each step, shortest first. */
export const BREVITIES: readonly number[] = LENGTH_STEPS.map(brevityFrom)

/** One in this many entries is in the sample (`isSampled`). */
export const SAMPLE = 16

/**
 * Minimum number of matches in the sample for an estimate, with an error of about a sixth. Fewer are counted one by one.
 */
export const ENOUGH = 32

/** Maximum number of entries that are counted one by one, in the order of IDs. */
export const COUNTED_ALL = 1_000

/**
 * Maximum count of a term: more frequent words are equally common when candidates are chosen. A multiple of `SAMPLE`.
 */
export const COMMON = 10_000

/**
 * Multiples of the golden ratio are evenly distributed, so that no pattern of the entries (such as questions at even IDs) matches the
 * sample.
 */
const [GOLDEN, RANGE] = [40_503, 65_536]
/** The constants of `isSampled`. */
export const SAMPLED_BY = { golden: GOLDEN, range: RANGE, below: RANGE / SAMPLE } as const

/** Number of rarest words that choose candidates when more than `MANY` entries match. */
export const RAREST_WORDS = 6
/** Threshold from which on many entries match. */
export interface Many {
  /** Minimum number of matches in the sample. */
  readonly sampled: number
  /** In a smaller organization this is never reached, so it is not checked. */
  readonly entries: number
}
/** The rules for queries with more than `COMMON` matches. */
export interface ManyMatch extends Many {
  /**
   * When a query with few words checks how many entries the filter admits: `classed` for up to three words, which use term combinations in
   * a smaller organization too, `grouped` for more. It affects only the cost.
   */
  readonly filtered: { readonly classed: Many; readonly grouped: Many }
}
export const MANY: ManyMatch = {
  ...{ sampled: COMMON / SAMPLE, entries: COMMON / 2 },
  filtered: {
    classed: { sampled: COMMON / SAMPLE, entries: 2 * COMMON },
    grouped: { sampled: ENOUGH, entries: COUNTED_ALL },
  },
}

/**
 * A filter admits many matches if it admits this many of the newest of the sample. Then the best are found by reading matches, best first,
 * until enough are admitted.
 */
export const ADMITS_MANY = { asked: 256, admitted: 8 } as const

/**
 * Returns whether a query with this many words chooses candidates by its rarest words when many entries match (threads contract §6.1,
 * docs/decisions/016-few-words-choose.md).
 */
const mayBeFewWords = (words: number): boolean => words > RAREST_WORDS

/**
 * Returns the words that choose candidates when many entries match: the rarest, and the next ones for when those find too few.
 *
 * @param counts number of entries with each word; a word without entries is skipped
 * @returns positions in the query, in its order
 */
export function rarestWords(counts: readonly number[]): [first: number[], next: number[]] {
  const places = counts.flatMap((n, place) => (n > 0 ? [place] : []))
  const rarest = places.sort((a, b) => (counts[a] as number) - (counts[b] as number) || a - b)
  const part = (from: number) => rarest.slice(from, from + RAREST_WORDS).sort((a, b) => a - b)
  return [part(0), part(RAREST_WORDS)]
}

const [most, ...others] = BREVITIES

/** Returns the factor of a candidate's words by its length; equal doubles on both databases. */
export const brevity = (words: SQL): SQL => {
  const steps = BREVITIES.slice(0, -1).map(
    (value, i) => sql`WHEN ${words} < ${sql.raw(`${LENGTH_STEPS[i + 1]} THEN ${value} `)}`,
  )
  return sql`CAST(CASE ${sql.join(steps)}ELSE ${sql.raw(String(others.at(-1)))} END AS double precision)`
}

/** The factor of an entry without words, which is the highest. */
export const MAX_LENGTH_NORM = sql.raw(String(most))

/** Returns whether an entry with this ID is in the sample that estimates counts. */
export const isSampled = (id: SQL): SQL => {
  const [golden, range, below] = [SAMPLED_BY.golden, SAMPLED_BY.range, SAMPLED_BY.below].map((n) => sql.raw(String(n)))
  return sql`(${id} % ${range} * ${golden}) % ${range} < ${below}`
}

/** Maximum count of a term, in the order of IDs, when candidates come from one thread and others are only counted. */
export const COUNTED = 1000

/** Returns the sort key of candidates for a query that requires units; doubles on both databases. */
export const unitKey = (weight: SQL, shortness: SQL): SQL => sql`(${weight} * ${shortness})`

/**
 * Returns an upper bound of the sort key without one of the units, by `weight` of all words and `lightest` of one. An entry without a unit
 * lacks a
 * word, unless the unit is a phrase.
 *
 * @param composed units of several words
 */
export const keyOfOthers = (composed: readonly Unit[]): SQL =>
  unitKey(sql`(weight - ${sql.raw(composed.length > 0 ? '0' : 'lightest')})`, MAX_LENGTH_NORM)

/** Steps that both databases share when they choose candidates. */

const partsOf = (filter: Filter): readonly Filter[] =>
  filter.op === 'and' ? filter.of.flatMap((part) => partsOf(part)) : [filter]

/** Returns where a filter searches: one thread, one project with or without layer 3, some layers. */
export function placeOf(filter: Filter): Required<Omit<Confined, 'captured'>> {
  let [thread, projectScope, project]: (string | null)[] = [null, null, null]
  let layers: readonly Layer[] | null = null
  for (const part of partsOf(filter))
    if (part.op === 'thread') thread ??= part.is
    else if (part.op === 'projectScope') projectScope ??= part.is
    else if (part.op === 'project') project ??= part.is
    else if (part.op === 'layer') layers ??= part.anyOf
  return { thread: thread ?? null, projectScope: projectScope ?? null, project: project ?? null, layers }
}

/** Returns whether terms of the index express the complete filter. */
export const isOfPlace = (filter: Filter): boolean =>
  partsOf(filter).every(({ op }) => ['thread', 'projectScope', 'project', 'layer'].includes(op))

/** Returns the columns of phrases, which never match in date and agent. */
export const phraseColumns = (columns: readonly TextColumn[]): TextColumn[] =>
  columns.filter((column) => column !== 'context')

/** Any of the three searches, with the parameters of their common statements. */
export interface AnySearch extends TextRequest {
  /** Whether it is a search by units. */
  readonly units?: true
  /** Only for a search by rare words. */
  readonly rare?: number
  readonly moment?: WorkContext
  readonly diaryOf?: string | null
  readonly totals?: boolean
  readonly texts?: boolean
}

/** Creates the three searches of a database that runs them with the same statements. */
export const searchesBy = (
  search: (scope: Scope, request: AnySearch) => Promise<TextSearch>,
): Pick<FullText, 'search' | 'searchByUnits' | 'searchByRareWords'> => ({
  search,
  searchByUnits: (scope, { candidates, ...request }) =>
    search(scope, { ...request, units: true, depth: { candidates, complete: 0 } }),
  searchByRareWords: (scope, { candidates, ...request }) =>
    search(scope, { ...request, depth: { candidates, complete: 0 } }),
})

/**
 * Splits the units of a query into those that are one of its scored words (by position), and the others, which are searched separately.
 */
export function splitUnits(
  units: readonly Unit[],
  terms: readonly ScoredTerm[],
): { alone: number[]; composed: Unit[] } {
  const places = units.map(({ terms: own, prefix, phrase }) =>
    own.length === 1 && !prefix && !phrase ? terms.findIndex(({ term, by }) => by === 'stem' && term === own[0]) : -1,
  )
  return { alone: places.filter((place) => place >= 0), composed: units.filter((_, i) => (places[i] as number) < 0) }
}

const isUnit = ({ op }: Expression): boolean => op === 'unit'

const demandedBy = (expression: Expression): readonly Unit[] =>
  expression.op === 'unit' ? [expression.unit] : expression.op === 'and' ? expression.of.flatMap(demandedBy) : []

/** Returns whether every match of an expression contains every scored term, so that entries have equal word weights. */
export function demandsAll(expression: Expression, terms: readonly ScoredTerm[]): boolean {
  const keyOf = ({ term, by }: ScoredTerm): string => `${by} ${term}`
  const demanded = new Set(scoredTerms(demandedBy(expression)).map(keyOf))
  return terms.length > 0 && terms.every((term) => demanded.has(keyOf(term)))
}

/**
 * Returns whether few words choose the candidates when many entries match: for a query of single words, not of one thread.
 */
export function isForFewWords({ query, terms, filter, units, rare }: AnySearch): boolean {
  if (rare !== undefined || !mayBeFewWords(terms.length)) return false
  const { expression } = query
  if (units === undefined && (expression?.op !== 'or' || !expression.of.every(isUnit))) return false
  const { alone, composed } = splitUnits(query.units, terms)
  const isOfWords = composed.length === 0 && alone.length === terms.length
  return isOfWords && placeOf(filter).thread === null
}

/** Number of counted entries, and the highest of their IDs; null when there were none. */
export type TermCount = readonly [counted: number, reached: number | null]

interface Totals {
  readonly entries: number
  readonly firstId: number
  readonly lastId: number
}

/** Returns the count of entries with a term; a count that stopped at the cap is extrapolated to the remaining IDs. */
function estimateEntries([counted, reached]: TermCount, cap: number, all: Totals): number {
  if (counted < cap || reached === null || all.entries === 0) return counted
  const span = reached - all.firstId + 1
  return Math.min(all.entries, Math.round((counted * (all.lastId - all.firstId + 1)) / Math.max(span, 1)))
}

/** Columns of a candidate with bounded size. */
export const CANDIDATE_NAMES = ['id', 'title', 'text_words', 'weight', 'layer', 'created_at']

/** Maximum characters of the JSON of other names that is read. */
export const ALIASES_LENGTH = 20_000

/** Returns the code of a row and its other names, as text to search and as a list. */
function namesAndCode(row: Row): Pick<TextHit, 'code' | 'aliases'> {
  const given = strOrNull(row, 'aliases')
  const aliases = given === null ? [] : aliasesOf({ aliases: JSON.parse(given) })
  return { code: [str(row, 'code'), ...aliases].join('\n'), aliases }
}

const toHit = (row: Row, complete: boolean, columns: readonly TextColumn[]): TextHit => ({
  id: num(row, 'id'),
  title: columns.includes('title') ? (strOrNull(row, 'title') ?? '') : '',
  text: str(row, 'text'),
  terms: strOrNull(row, 'terms'),
  ...(columns.includes('code') ? namesAndCode(row) : { code: '', aliases: [] }),
  context: columns.includes('context') ? str(row, 'context') : '',
  length: num(row, 'text_words'),
  held: numOrNull(row, 'held') ?? 0,
  place: numOrNull(row, 'place') ?? 0,
  weight: num(row, 'weight'),
  layer: layerOf(row),
  createdAt: num(row, 'created_at'),
  atMoment: row.is_away === undefined ? null : toMemoryInContext(row),
  following: json<number[]>(row, 'following'),
  complete,
})

/** Estimates a term that was counted up to a maximum: between that number and all entries. */
const commonTerm = (rare: number, { entries }: Totals): number =>
  Math.min(entries, Math.round(Math.sqrt(rare * entries)))

/** The rows of the statements of one search. */
export interface Answers {
  /** Candidates; each row includes the counts of all terms. */
  readonly found: readonly Row[] | undefined
  /** Candidates with every unit. */
  readonly preferred: readonly Row[] | undefined
  /** One row: entries and words of the scope, its first and last ID. */
  readonly totals: readonly Row[] | undefined
  /** One row of counts in the complete scope, if the candidates come from a part of it. */
  readonly beyond: readonly Row[] | undefined
  readonly columns: readonly TextColumn[]
  /** Maximum to which terms were counted, if they were counted no further. */
  readonly rare?: number | undefined
  /** Counts of all terms, if some of them chose the candidates. */
  readonly ofAll?: readonly TermCount[] | null
}

export function toSearch(answers: Answers): TextSearch {
  const { found = [], preferred = [], totals, beyond, columns, rare, ofAll = null } = answers
  const unpacked = (rows: readonly Row[]) => unpackedColumns(CANDIDATE_NAMES, rows)
  const complete = new Map(unpacked(preferred).map((row) => [num(row, 'id'), toHit(row, true, columns)]))
  const others = unpacked(found)
    .filter((row) => !complete.has(num(row, 'id')))
    .map((row) => toHit(row, false, columns))
  const [sums = {}] = totals ?? []
  const all = { entries: Number(sums.entries), firstId: Number(sums.first_id), lastId: Number(sums.last_id) }
  const [whole] = beyond ?? []
  const withCounts = whole ?? [...found, ...preferred].find((row) => row.counts !== null)
  const counts = ofAll ?? (withCounts === undefined ? null : jsonOrNull<TermCount[]>(withCounts, 'counts'))
  // By position if they have one, whatever the order of the database.
  const inOrder = (hits: readonly TextHit[]) => hits.toSorted((a, b) => a.place - b.place || b.id - a.id)
  return {
    hits: [...inOrder([...complete.values()]), ...inOrder(others)],
    statistics: {
      entries: all.entries,
      averageLength: all.entries === 0 ? 0 : Number(sums.words) / all.entries,
      entriesWithTerm: (counts ?? []).map((count) =>
        rare !== undefined && count[0] > rare
          ? commonTerm(rare, all)
          : estimateEntries(count, whole === undefined ? COMMON : COUNTED, all),
      ),
    },
    chosenBy:
      ofAll !== null || [...found, ...preferred].some(({ few }) => few === true) ? 'six rarest words' : 'all words',
  }
}

/** Longer entries are only partly scored in plain code. */
export const isLong: SQL = sql.raw(`e.bytes > ${SCORED_LENGTH} OR length(coalesce(e.metadata, '')) > ${SCORED_LENGTH}`)

/**
 * Converts known entries. @param rows of `id`, `title`, `text`, `code` and `aliases`
 *
 * @param held of `id` and `place`, for long ones
 */
export function toEntryTexts(rows: readonly Row[], held: readonly Row[]): EntryText[] {
  const places = Map.groupBy(held, ({ id }) => Number(id))
  return rows.map((row) => ({
    id: num(row, 'id'),
    title: strOrNull(row, 'title') ?? '',
    text: str(row, 'text'),
    ...namesAndCode(row),
    held: (places.get(num(row, 'id')) ?? []).map((held) => num(held, 'place')),
  }))
}
