import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import { aliasesOf } from '../../../../domain/entry/title'
import type { Scope } from '../../../../domain/identity/scope'
import type { WorkContext } from '../../../../domain/recall/moment'
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

/** The rules by which a search by words chooses its candidates: the same on both databases, which find them each in its own way. */

/**
 * Content words from which on an entry is a step longer. Candidates are told apart by steps, so that an index can lead to the shortest of
 * thousands without a look at each; the scorer counts words one by one. A step is 4 to 8 % of `brevityFrom`.
 */
export const LENGTH_STEPS = [0, 4, 8, 12, 17, 23, 30, 38, 48, 60, 75, 95, 125, 170, 250, 450] as const

/** The place among `LENGTH_STEPS` of an entry of so many content words. */
export const stepOf = (words: number): number => LENGTH_STEPS.findLastIndex((from) => from <= words)

/** How far words count more in an entry that begins with so many: as the scorer has it, for a word said once. */
const brevityFrom = (words: number): number => 1 + 2.2 / (1.3 + words / 55)

/** How far each step raises what an entry weighs, the shortest first. */
export const BREVITIES: readonly number[] = LENGTH_STEPS.map(brevityFrom)

/** Entries with a term are looked for among one in so many, whatever is told of them: those that `isSampled` names. */
export const SAMPLE = 16

/** From so many of the sample on it tells how many there are: some 500, give or take a sixth. Of fewer, entries are counted one by one. */
export const ENOUGH = 32

/** As far as entries are counted one by one, in the order of ids. */
export const COUNTED_ALL = 1_000

/** As far as a term is counted: words of more entries are equally common when candidates are chosen. A multiple of `SAMPLE`. */
export const COMMON = 10_000

/** Multiples of the golden section lie evenly, so that no habit of who writes (every second entry a question) meets the sample. */
const [GOLDEN, RANGE] = [40_503, 65_536]
/** The numbers of `isSampled`. */
export const SAMPLED_BY = { golden: GOLDEN, range: RANGE, below: RANGE / SAMPLE } as const

/** Words by which candidates are chosen where more than `MANY` entries hold one of more words: the rarest. */
export const RAREST_WORDS = 6
/** From where on many entries match. */
export interface Many {
  /** So many of the sample hold one of the words. */
  readonly sampled: number
  /** In an org of fewer entries that is never so, and nobody needs to ask. */
  readonly entries: number
}
/** More than `COMMON` entries hold one of the words. */
export interface ManyMatch extends Many {
  /**
   * Where a search of few words asks what a filter admits: of up to three, which classes lead to in a smaller org too, and of more, whose
   * entries would be grouped. It decides what a search costs, and nothing else.
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
 * A filter admits many of what holds a word where it admits so many of the newest of the sample, 3 %: the best of them are found by going
 * through what holds the words, best first, until enough are admitted.
 */
export const ADMITS_MANY = { asked: 256, admitted: 8 } as const

/**
 * Whether a query of so many words is one whose candidates are chosen by its rarest where many match and its filter admits many of them
 * (threads contract §6.1): each further word of thousands of entries would be looked through for what others tell better
 * (docs/decisions/016-few-words-choose.md).
 */
export const mayBeFewWords = (words: number): boolean => words > RAREST_WORDS

/**
 * The words that candidates are chosen by where many match: the rarest, and the next, which follow where those lead to too few.
 *
 * @param counts in how many entries each word stands; a word of none leads nowhere
 * @returns places in the query, in its order
 */
export function rarestWords(counts: readonly number[]): [first: number[], next: number[]] {
  const places = counts.flatMap((n, place) => (n > 0 ? [place] : []))
  const rarest = places.sort((a, b) => (counts[a] as number) - (counts[b] as number) || a - b)
  const part = (from: number) => rarest.slice(from, from + RAREST_WORDS).sort((a, b) => a - b)
  return [part(0), part(RAREST_WORDS)]
}

const [most, ...others] = BREVITIES

/** How far a candidate's words count more where they stand among few; the same doubles on both databases. */
export const brevity = (words: SQL): SQL => {
  const steps = BREVITIES.slice(0, -1).map(
    (value, i) => sql`WHEN ${words} < ${sql.raw(`${LENGTH_STEPS[i + 1]} THEN ${value} `)}`,
  )
  return sql`CAST(CASE ${sql.join(steps)}ELSE ${sql.raw(String(others.at(-1)))} END AS double precision)`
}

/** That of no words: none is above it. */
export const MAX_LENGTH_NORM = sql.raw(String(most))

/** Whether an entry with this id is in the sample in which common words are counted. */
export const isSampled = (id: SQL): SQL => {
  const [golden, range, below] = [SAMPLED_BY.golden, SAMPLED_BY.range, SAMPLED_BY.below].map((n) => sql.raw(String(n)))
  return sql`(${id} % ${range} * ${golden}) % ${range} < ${below}`
}

/** Entries with a term are counted up to here, in the order of ids, where candidates come from one thread and others are only counted. */
export const COUNTED = 1000

/** What candidates are ordered by where a query asks for its units; doubles on both databases. */
export const unitKey = (weight: SQL, shortness: SQL): SQL => sql`(${weight} * ${shortness})`

/**
 * A key that none is above who lacks one of the units, of columns `weight`, of all words together, and `lightest`, of one. Who lacks a unit
 * lacks a word, unless the unit is several words next to each other.
 *
 * @param composed units of several words
 */
export const keyOfOthers = (composed: readonly Unit[]): SQL =>
  unitKey(sql`(weight - ${sql.raw(composed.length > 0 ? '0' : 'lightest')})`, MAX_LENGTH_NORM)

/** What both databases do alike when they choose the candidates of a search by words. */

const partsOf = (filter: Filter): readonly Filter[] =>
  filter.op === 'and' ? filter.of.flatMap((part) => partsOf(part)) : [filter]

/** What a filter names of where a search looks: one thread, one project with or without layer 3 of the org, some layers. */
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

/** Whether a filter asks for nothing but a place, which terms of the index confine a search to. */
export const isOfPlace = (filter: Filter): boolean =>
  partsOf(filter).every(({ op }) => ['thread', 'projectScope', 'project', 'layer'].includes(op))

/** Date and agent belong to no phrase. */
export const phraseColumns = (columns: readonly TextColumn[]): TextColumn[] =>
  columns.filter((column) => column !== 'context')

/** Any of the three searches, as the statements that they share take it. */
export interface AnySearch extends TextRequest {
  /** Whether it is a search by units. */
  readonly units?: true
  /** Of a search by rare words. */
  readonly rare?: number
  readonly moment?: WorkContext
  readonly diaryOf?: string | null
  readonly totals?: boolean
}

/** The three searches of a database that carries each out by the same statements. */
export const searchesBy = (
  search: (scope: Scope, request: AnySearch) => Promise<TextSearch>,
): Pick<FullText, 'search' | 'searchByUnits' | 'searchByRareWords'> => ({
  search,
  searchByUnits: (scope, { candidates, ...request }) =>
    search(scope, { ...request, units: true, depth: { candidates, complete: 0 } }),
  searchByRareWords: (scope, { candidates, ...request }) =>
    search(scope, { ...request, depth: { candidates, complete: 0 } }),
})

/** The units of a query that are one of its scored words, by the places of those, and the others, which are looked for apart. */
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

/** Whether all that an expression means holds every scored term, so that entries weigh the same by their words. */
export function demandsAll(expression: Expression, terms: readonly ScoredTerm[]): boolean {
  const keyOf = ({ term, by }: ScoredTerm): string => `${by} ${term}`
  const demanded = new Set(scoredTerms(demandedBy(expression)).map(keyOf))
  return terms.length > 0 && terms.every((term) => demanded.has(keyOf(term)))
}

/**
 * Whether candidates are chosen by the few words that tell most where many entries hold one of them, as a rule admitted ones: of a query of
 * single words alone, each of which leads to candidates, and not of one thread.
 */
export function isForFewWords({ query, terms, filter, units, rare }: AnySearch): boolean {
  if (rare !== undefined || !mayBeFewWords(terms.length)) return false
  const { expression } = query
  if (units === undefined && (expression?.op !== 'or' || !expression.of.every(isUnit))) return false
  const { alone, composed } = splitUnits(query.units, terms)
  const isOfWords = composed.length === 0 && alone.length === terms.length
  return isOfWords && placeOf(filter).thread === null
}

/** How many, and the highest id among them; null when there was none. */
export type TermCount = readonly [counted: number, reached: number | null]

interface Totals {
  readonly entries: number
  readonly firstId: number
  readonly lastId: number
}

/** The count of entries with a term; a count that stopped at the cap is stretched over the ids it did not reach. */
function estimateEntries([counted, reached]: TermCount, cap: number, all: Totals): number {
  if (counted < cap || reached === null || all.entries === 0) return counted
  const span = reached - all.firstId + 1
  return Math.min(all.entries, Math.round((counted * (all.lastId - all.firstId + 1)) / Math.max(span, 1)))
}

/** What each candidate has of about the same size. */
export const CANDIDATE_NAMES = ['id', 'title', 'text_words', 'weight', 'layer', 'created_at']

/** JSON of other names that is read; a longer one names nothing. */
export const ALIASES_LENGTH = 20_000

/** The code of a row and its other names, in which words are looked for alike, and the names themselves. */
function namesAndCode(row: Row): Pick<TextHit, 'code' | 'aliases'> {
  const given = strOrNull(row, 'aliases')
  const aliases = given === null ? [] : aliasesOf({ aliases: JSON.parse(given) })
  return { code: [str(row, 'code'), ...aliases].join('\n'), aliases }
}

const toHit = (row: Row, complete: boolean, columns: readonly TextColumn[]): TextHit => ({
  id: num(row, 'id'),
  title: columns.includes('title') ? (strOrNull(row, 'title') ?? '') : '',
  text: str(row, 'text'),
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

/** Entries with a term that is counted no further: between as many as were counted and all of them. */
const commonTerm = (rare: number, { entries }: Totals): number =>
  Math.min(entries, Math.round(Math.sqrt(rare * entries)))

/** The rows of the statements of one search. */
export interface Answers {
  /** Candidates; each row brings the counts of all terms. */
  readonly found: readonly Row[] | undefined
  /** Candidates that hold every unit. */
  readonly preferred: readonly Row[] | undefined
  /** One row: entries and words of the scope, its first and last id. */
  readonly totals: readonly Row[] | undefined
  /** One row of counts in the whole scope, where the candidates come from a part of it. */
  readonly beyond: readonly Row[] | undefined
  readonly columns: readonly TextColumn[]
  /** Up to how many entries terms were counted, where they are counted no further. */
  readonly rare?: number | undefined
  /** Counts of all terms, where candidates were chosen by some of them. */
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
  const withCounts = whole ?? found.find((row) => row.counts !== null)
  const counts = ofAll ?? (withCounts === undefined ? null : jsonOrNull<TermCount[]>(withCounts, 'counts'))
  // However the database put them: by their places, where they have some.
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
    chosenBy: ofAll !== null || found.some(({ few }) => few === true) ? 'six rarest words' : 'all words',
  }
}

/** Entries with more stand in part in what is looked at in plain code. */
export const isLong: SQL = sql.raw(`e.bytes > ${SCORED_LENGTH} OR length(coalesce(e.metadata, '')) > ${SCORED_LENGTH}`)

/**
 * @param rows of `id`, `title`, `text`, `code` and `aliases`
 * @param held of `id` and `place`, of long ones
 */
export function toStanding(rows: readonly Row[], held: readonly Row[]): EntryText[] {
  const places = Map.groupBy(held, ({ id }) => Number(id))
  return rows.map((row) => ({
    id: num(row, 'id'),
    title: strOrNull(row, 'title') ?? '',
    text: str(row, 'text'),
    ...namesAndCode(row),
    held: (places.get(num(row, 'id')) ?? []).map((held) => num(held, 'place')),
  }))
}
