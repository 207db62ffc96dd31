import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../domain/search/filter'
import { conjuncts } from '../../domain/search/filter-weight'
import type { TextQuery } from '../../domain/search/query'
import type { Expression } from '../../domain/search/query-unit'
import type { TextSearch } from '../../ports/full-text'
import { compileFilter } from '../sql/core/compile-filter'
import type { SqlConnection } from '../sql/core/connection'
import type { Bindings } from '../sql/core/dialect'
import { jsonOrNull, numOrNull, onlyRow } from '../sql/core/rows'
import { listed, type Sight } from '../sql/core/visibility'
import { type ReadContext, withPrelude } from '../sql/tables/entries/read-statements'
import { shareOf } from '../sql/tables/entries/share'
import { fewAdmitted } from '../sql/tables/pages/few-admitted'
import { leadsOf } from '../sql/tables/pages/leads'
import { ADMITS_MANY, type Many, type ManyMatch, tellingWords } from '../sql/tables/search/candidate-rules'
import { type AnySearch, demandsAll, isOfPlace, splitUnits, type TermCount } from '../sql/tables/search/candidates'
import { sampleTerm } from '../sql/tables/search/scope-terms'
import { isForClasses } from './by-length'
import { countedBySample } from './counted-terms'
import { NOWHERE } from './full-text-index'
import type { MatchCompiler } from './match'
import type { Way } from './search-bound'

/** How the candidates of a search are found: what is known where many entries match, and the way that follows from it. */

interface SearchWay {
  /** The name of the way, by which its cost is reckoned. */
  readonly way: Way
  /** What holds any of the terms is found. */
  readonly isAnyOf: boolean
  /** And what holds them all is preferred: it is not asked for once more. */
  readonly isWhole: boolean
  /** What the query prefers is asked for by itself. */
  readonly asksPreferred: boolean
  readonly isByClasses: boolean
  /** All that the expression means holds the same words. */
  readonly isOneClass: boolean
  /** What the index brings is admitted as a rule. */
  readonly isAdmitted: boolean
  /** The entries that are each asked for the words; null where these lead to entries. */
  readonly led: readonly number[] | null
  /** Whether entries can be asked each for the words. */
  readonly mayBeLed: boolean
  /** Where many entries match, what the filter admits of them decides the way. */
  readonly isForFilter: boolean
}

/** @param known what was asked of many matching entries */
export function wayOf(request: AnySearch, compiler: MatchCompiler, known: KnownOfMany | null): SearchWay {
  const { query, terms, filter, units, rare } = request
  const expression = query.expression as Expression
  const isByExpression = units === undefined && rare === undefined
  const isAnyOf = isByExpression && compiler.isAnyOf(expression, terms)
  const isPreferred = isByExpression && query.preferred !== null
  const isWhole = isPreferred && isAnyOf && terms.length === query.units.length
  const { alone, composed } = splitUnits(query.units, terms)
  const isOfWords = units ? composed.length === 0 && alone.length === terms.length : isAnyOf
  const asksPreferred = isPreferred && !isWhole
  const isOneClass = isByExpression && demandsAll(expression, terms)
  const mayBeLed = isOneClass ? compiler.isAllOf(expression, terms) : isOfWords && !asksPreferred
  const led = mayBeLed ? (known?.ids ?? null) : null
  const isAdmitted = isOfPlace(filter) || known?.admitsMany === true
  const isByClasses = isOfWords && led === null && isForClasses(terms.length, isAdmitted)
  // Where little is admitted it may be that all that has the words is looked at. What has one word is come to in one pass.
  const isAsClass = isOneClass && isAdmitted && expression.op !== 'unit'
  const way: Way = isByClasses && isAdmitted ? 'classes' : isAnyOf ? 'any' : isAsClass ? 'class' : 'other'
  const isForFilter = !isOfPlace(filter) && (isOneClass || mayBeLed)
  return { way, isAnyOf, isWhole, asksPreferred, isByClasses, isOneClass, isAdmitted, led, mayBeLed, isForFilter }
}

/** From where on many match: where few words may choose, or what a filter admits decides. */
export const whereMany = (isForFew: boolean, words: number, { filtered, ...few }: ManyMatch): Many =>
  isForFew ? few : isForClasses(words, false) ? filtered.classed : filtered.grouped

/** How candidates are chosen by some words of a query. */
export interface FewWords {
  /** In how many entries each of these stands. */
  readonly counts: WordCounts
  /** And each word of the query. */
  readonly ofAll: WordCounts
}

/** The same search, whose candidates are chosen by the terms at some places of the query. */
export function searchBySome(request: AnySearch, places: readonly number[]): AnySearch {
  const { query, terms } = request
  const wanted = places.map((place) => terms[place] as (typeof terms)[number])
  const units = wanted.map(({ term }) => ({ terms: [term], prefix: false, phrase: false, stops: [false] }))
  const some: TextQuery = {
    ...query,
    expression: { op: 'or', of: units.map((unit) => ({ op: 'unit', unit })) },
    // A search by units finds entries with these alone; another one also finds entries with every word, whichever choose.
    ...(request.units === undefined ? {} : { units }),
  }
  return { ...request, terms: wanted, query: some }
}

/**
 * The candidates of the words that tell most, and beside them, where these are too few, of those that follow.
 *
 * @param ofAll in how many entries each word of the query stands
 * @param ask a search by some of its words
 */
export async function byFewWords(
  request: AnySearch,
  ofAll: WordCounts,
  ask: (request: AnySearch, few: FewWords) => Promise<TextSearch>,
): Promise<TextSearch> {
  const { depth } = request
  const by = (places: readonly number[]): Promise<TextSearch> => {
    const counts = places.map((place) => ofAll[place] as TermCount)
    return ask(searchBySome(request, places), { counts, ofAll })
  }
  const [first, next] = tellingWords(ofAll.map(([n]) => n))
  const found = await by(first)
  if (found.hits.length >= depth.candidates || next.length === 0) return found
  const known = new Set(found.hits.map(({ id }) => id))
  const others = await by(next)
  const further = others.hits.filter(({ id }) => !known.has(id))
  const behind =
    request.units === undefined ? further : further.map((hit, i) => ({ ...hit, place: known.size + i + 1 }))
  return { ...found, hits: [...found.hits, ...behind] }
}

/** In how many entries each word of a query stands. */
export type WordCounts = readonly TermCount[]

/** Entries that are each asked for each word; and together, since each takes some 12 µs whatever it holds. */
const [MOST_LED, MOST_ASKED] = [2_000, 16_000]

/** Entries that may each be asked for so many words. */
const mostLed = (words: number): number => Math.min(MOST_LED, Math.floor(MOST_ASKED / words))

const sampled = (org: string, match: string): string => `scope : "${sampleTerm(org)}" AND ${match}`

/**
 * Whether many entries match, behind `held`, of one row, of how many `entries` the org has.
 *
 * @param match what is looked for within the scope, as a MATCH expression
 */
export const manyMatch = (org: string, match: string, { sampled: most, entries }: Many): SQL =>
  sql`CASE WHEN (SELECT entries FROM held) < ${entries} THEN 0 ELSE (
    SELECT count(*) >= ${most} FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ${sampled(org, match)} LIMIT ${most})
  ) END`

/** What is known of a search that many entries match. */
export interface KnownOfMany {
  readonly counts: WordCounts
  /** Whether the filter admits many of them; one that asks for a place alone does. */
  readonly admitsMany: boolean
  /** The entries that it admits, where these are known to be few. */
  readonly ids: readonly number[] | null
}

interface Asked {
  readonly context: ReadContext
  readonly sight: Sight
  /** Null where nothing but a place is asked. */
  readonly filter: Filter | null
  /** A query of how many `entries` the scope may have, and how many `bytes` of text. */
  readonly held: SQL
  readonly many: SQL
  /** What is looked for, and each of its words, within the scope, as MATCH expressions. */
  readonly match: string
  readonly inside: readonly string[]
}

/** One row of what is known where many entries match; of `counts` null where they do not. */
export function ifMany({ context, sight, filter, held, many, match, inside }: Asked): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const isMany = sql`(SELECT yes FROM fits)`
  const tables = [
    sql`held (entries, bytes) AS MATERIALIZED (${held})`,
    sql`fits (yes) AS MATERIALIZED (SELECT ${many} FROM held)`,
    sql`counts AS MATERIALIZED (${countedBySample(scope.org, inside)})`,
  ]
  const counts = sql`CASE WHEN ${isMany} THEN (SELECT json_group_array(json(count) ORDER BY place) FROM counts) END AS counts`
  if (filter === null) return withPrelude(bindings, tables, sql`SELECT ${counts}, NULL AS admitted, NULL AS ids`)

  const isAdmitted = sql`${listed(dialect, scope, now, 'e', sight)} AND ${compileFilter(filter, dialect, bindings.bind)}`
  const newest = sql`SELECT rowid AS id FROM entries_fts
    WHERE entries_fts MATCH CASE WHEN ${isMany} THEN ${sampled(scope.org, match)} ELSE ${NOWHERE} END
    ORDER BY rowid DESC LIMIT ${ADMITS_MANY.asked}`
  const admitted = sql`(SELECT count(*) FROM (${newest}) one CROSS JOIN entries e ON e.id = one.id WHERE ${isAdmitted})`
  const led = isOfLists(sight) ? leadTo(context, filter, bindings, mostLed(inside.length)) : null
  const ids =
    led === null
      ? sql`NULL`
      : sql`CASE WHEN ${isMany} AND ${led.within} THEN (SELECT json_group_array(e.id) FROM ${led.from} WHERE ${isAdmitted}) END`
  return withPrelude(
    bindings,
    [...tables, ...(led?.tables ?? [])],
    sql`SELECT ${counts}, ${admitted} AS admitted, ${ids} AS ids`,
  )
}

/** Indexes lead to what lists show. */
const isOfLists = ({ diaryOf, captured }: Sight): boolean => diaryOf === null && captured === null

/** The entries that a filter admits, where no index led to them and they are few enough to be asked each for so many words; else null. */
export const walkedTo = async (
  connection: SqlConnection,
  { context, sight, filter, words }: Pick<Asked, 'context' | 'sight' | 'filter'> & { readonly words: number },
): Promise<readonly number[] | null> =>
  filter === null || !isOfLists(sight) ? null : fewAdmitted(connection, context, filter, mostLed(words))

/** `entries e` to which an index leads by a part of the filter, where these are no more than that; by a time, where nothing else leads. */
function leadTo(context: ReadContext, filter: Filter, bindings: Bindings, most: number) {
  const share = shareOf(context.dialect, filter)
  if (share === null) return null
  const entries = Math.min(most, share.entries)
  const leads = leadsOf(context, filter, bindings, { ...share, entries }, { byId: true })
  const times = conjuncts(filter).filter(({ op }) => op === 'created')
  if (leads !== null || times.length === 0) return leads
  const { dialect, scope } = context
  const inTime = sql`${dialect.plan.entriesBy('entries_created_idx')}
    WHERE e.org = ${scope.org} AND e.listed = 1 AND ${compileFilter({ op: 'and', of: times }, dialect, bindings.bind)}`
  return {
    tables: [
      sql`timed AS MATERIALIZED (SELECT e.id FROM ${inTime} ORDER BY e.created_second DESC LIMIT ${entries + 1})`,
    ],
    within: sql`(SELECT count(*) FROM timed) <= ${entries}`,
    from: sql`timed ${dialect.plan.follow('entries', 'e', sql`e.id = timed.id`)}`,
  }
}

/** Of `ifMany`; null where not many match. */
export const knownOfMany = onlyRow((row): KnownOfMany | null => {
  const counts = jsonOrNull<WordCounts>(row, 'counts')
  if (counts === null) return null
  const admitted = numOrNull(row, 'admitted')
  return {
    counts,
    admitsMany: admitted === null || admitted >= ADMITS_MANY.admitted,
    ids: jsonOrNull<number[]>(row, 'ids'),
  }
})
