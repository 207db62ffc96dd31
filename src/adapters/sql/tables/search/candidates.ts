import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import { aliasesOf } from '../../../../domain/entry/names'
import type { Scope } from '../../../../domain/identity/scope'
import type { Moment } from '../../../../domain/recall/moment'
import type { Filter } from '../../../../domain/search/filter'
import type { Expression, Unit } from '../../../../domain/search/query-unit'
import { type ScoredTerm, scoredTerms } from '../../../../domain/search/score'
import {
  type FullText,
  SCORED_LENGTH,
  type Standing,
  type TextColumn,
  type TextHit,
  type TextRequest,
  type TextSearch,
} from '../../../../ports/full-text'
import type { Row } from '../../core/connection'
import { unpackedColumns } from '../../core/packed'
import { json, jsonOrNull, num, numOrNull, str, strOrNull } from '../../core/rows'
import { layerOf } from '../entries/rows'
import { toAtMoment } from '../memories/moment'
import { COMMON, COUNTED, mayBeFewWords } from './candidate-rules'
import type { Confined } from './scope-terms'

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
  readonly moment?: Moment
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
  atMoment: row.is_away === undefined ? null : toAtMoment(row),
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
export function toStanding(rows: readonly Row[], held: readonly Row[]): Standing[] {
  const places = Map.groupBy(held, ({ id }) => Number(id))
  return rows.map((row) => ({
    id: num(row, 'id'),
    title: strOrNull(row, 'title') ?? '',
    text: str(row, 'text'),
    ...namesAndCode(row),
    held: (places.get(num(row, 'id')) ?? []).map((held) => num(held, 'place')),
  }))
}
