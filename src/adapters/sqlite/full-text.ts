// Full-text search on SQLite with FTS5: candidates and counts, and the check of given entries.

import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import { EVERYTHING, type Filter } from '../../domain/search/filter'
import { conjuncts } from '../../domain/search/filter-weight'
import type { Expression, TextQuery } from '../../domain/search/query'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH, type TextSearch } from '../../ports/full-text'
import { Batch, readOne } from '../sql/core/batch'
import { compileFilter } from '../sql/core/compile-filter'
import type { Row, SqlConnection } from '../sql/core/connection'
import type { Bindings, IndexedFields } from '../sql/core/dialect'
import { asRows, jsonOrNull, numOrNull, onlyRow } from '../sql/core/rows'
import { listed, type VisibilityFilter } from '../sql/core/visibility'
import { largeBytes, readBudgetOf } from '../sql/tables/entries/read-budget'
import { entriesById, type ReadContext, withPrelude } from '../sql/tables/entries/read-statements'
import { accessPathsOf, scanForFew } from '../sql/tables/pages/access-paths'
import {
  ADMITS_MANY,
  type AnySearch,
  brevity,
  COUNTED,
  demandsAll,
  isForFewWords,
  isLong,
  isOfPlace,
  MANY,
  type Many,
  type ManyMatch,
  placeOf,
  rarestWords,
  searchesBy,
  splitUnits,
  type TermCount,
  toEntryTexts,
  toSearch,
} from '../sql/tables/search/candidates'
import { sampleTerm, totalsOf } from '../sql/tables/search/scope-terms'
import { previewOf } from '../sql/tables/texts/long-texts'
import { SEARCH_BOUND, type SearchBound } from './cost'
import { NOWHERE, scopeExpression } from './full-text-index'
import { createCompiler, type MatchCompiler } from './match'
import { costsOfWords, fitsTable, heldIn, placesWithin, type SearchStrategy, tooMuch } from './search-bound'
import {
  bestOfRare,
  byLength,
  classesOf,
  countedBySample,
  countedTerms,
  type EntryClass,
  isForClasses,
  isFrequent,
  knownCounts,
  oneClass,
  rareTables,
  VERY_FREQUENT,
} from './term-combinations'
import {
  admittedByTerms,
  allOfWeighed,
  bestByUnits,
  bestOfAdmitted,
  bestOfWeighed,
  CODE_COLUMNS,
  candidateColumns,
  matchIfFits,
  placed,
  scoreGivenEntries,
  WEIGHED_BY_WORDS,
} from './term-groups'

/** Strategy of a search, and the facts that it depends on. */

interface StrategyFacts {
  /** Name of the strategy, for the cost estimate. */
  readonly way: SearchStrategy
  /** Entries with any of the terms match. */
  readonly isAnyOf: boolean
  /** And entries with all of them are preferred, so that they need no further query. */
  readonly isWhole: boolean
  /** The preferred entries need a further query. */
  readonly asksPreferred: boolean
  readonly isByClasses: boolean
  /** All matches contain the same words. */
  readonly isOneClass: boolean
  /** The filter usually admits what the index finds. */
  readonly isAdmitted: boolean
  /** IDs of the entries that are checked for the words; null if the words find the entries. */
  readonly checkedIds: readonly number[] | null
  /** Whether the entries of the filter may be checked for the words. */
  readonly mayCheckIds: boolean
  /** If many entries match, the strategy depends on how many the filter admits. */
  readonly isForFilter: boolean
}

/** Chooses the strategy. @param known facts about a search with many matches */
function searchStrategyOf(request: AnySearch, compiler: MatchCompiler, known: KnownOfMany | null): StrategyFacts {
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
  // If the filter admits little, all entries with the words may be read. Entries with one word are found in one pass.
  const isAsClass = isOneClass && isAdmitted && expression.op !== 'unit'
  const way: SearchStrategy = isByClasses && isAdmitted ? 'classes' : isAnyOf ? 'any' : isAsClass ? 'class' : 'other'
  const isForFilter = !isOfPlace(filter) && (isOneClass || mayBeLed)
  return {
    way,
    isAnyOf,
    isWhole,
    asksPreferred,
    isByClasses,
    isOneClass,
    isAdmitted,
    checkedIds: led,
    mayCheckIds: mayBeLed,
    isForFilter,
  }
}

/** Returns the number of matches from which on few words choose, or the filter decides. */
const whereMany = (isForFew: boolean, words: number, { filtered, ...few }: ManyMatch): Many =>
  isForFew ? few : isForClasses(words, false) ? filtered.classed : filtered.grouped

/** Counts for a search whose candidates are chosen by some words of the query. */
export interface FewWords {
  /** Number of entries with each of these words. */
  readonly counts: WordCounts
  /** Number of entries with each word of the query. */
  readonly ofAll: WordCounts
}

/** Returns the search whose candidates are chosen by the terms at some positions of the query. */
function searchBySome(request: AnySearch, places: readonly number[]): AnySearch {
  const { query, terms } = request
  const wanted = places.map((place) => terms[place] as (typeof terms)[number])
  const units = wanted.map(({ term }) => ({ terms: [term], prefix: false, phrase: false, stops: [false] }))
  const some: TextQuery = {
    ...query,
    expression: { op: 'or', of: units.map((unit) => ({ op: 'unit', unit })) },
    // A search by units finds entries with these only; any other one also finds entries with every word, whichever words choose.
    ...(request.units === undefined ? {} : { units }),
  }
  return { ...request, terms: wanted, query: some }
}

/**
 * Finds candidates by the rarest words and, if these are too few, by the next ones too.
 *
 * @param ofAll number of entries with each word of the query
 * @param ask a search by some of its words
 */
async function byFewWords(
  request: AnySearch,
  ofAll: WordCounts,
  ask: (request: AnySearch, few: FewWords) => Promise<TextSearch>,
): Promise<TextSearch> {
  const { depth } = request
  const by = (places: readonly number[]): Promise<TextSearch> => {
    const counts = places.map((place) => ofAll[place] as TermCount)
    return ask(searchBySome(request, places), { counts, ofAll })
  }
  const [first, next] = rarestWords(ofAll.map(([n]) => n))
  const found = await by(first)
  if (found.hits.length >= depth.candidates || next.length === 0) return found
  const known = new Set(found.hits.map(({ id }) => id))
  const others = await by(next)
  const further = others.hits.filter(({ id }) => !known.has(id))
  const behind =
    request.units === undefined ? further : further.map((hit, i) => ({ ...hit, place: known.size + i + 1 }))
  return { ...found, hits: [...found.hits, ...behind] }
}

/** Number of entries with each word of a query. */
export type WordCounts = readonly TermCount[]

/** Maximum number of entries that are checked, and of checks (entries × words). */
const [MOST_LED, MOST_ASKED] = [2_000, 16_000]

/** Returns the maximum number of entries to check for this many words. */
const maxCheckedIds = (words: number): number => Math.min(MOST_LED, Math.floor(MOST_ASKED / words))

const sampled = (org: string, match: string): string => `scope : "${sampleTerm(org)}" AND ${match}`

/**
 * Returns whether many entries match; `held` has one row with the number of `entries` of the organization.
 *
 * @param match the query within the scope, as a MATCH expression
 */
const manyMatch = (org: string, match: string, { sampled: most, entries }: Many): SQL =>
  sql`CASE WHEN (SELECT entries FROM held) < ${entries} THEN 0 ELSE (
    SELECT count(*) >= ${most} FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ${sampled(org, match)} LIMIT ${most})
  ) END`

/** Facts about a search with many matches. */
export interface KnownOfMany {
  readonly counts: WordCounts
  /** Whether the filter admits many of them; true if it only restricts the scope. */
  readonly admitsMany: boolean
  /** The entries that it admits, if they are known to be few. */
  readonly ids: readonly number[] | null
}

interface Asked {
  readonly context: ReadContext
  readonly visibility: VisibilityFilter
  /** Null for a filter that only restricts the scope. */
  readonly filter: Filter | null
  /** Query of how many `entries` the scope may have, and how many `bytes` of text. */
  readonly held: SQL
  readonly many: SQL
  /** The query, and each of its words, within the scope, as MATCH expressions. */
  readonly match: string
  readonly inside: readonly string[]
}

/** Returns one row with the facts if many entries match; `counts` is null if not. */
function ifMany({ context, visibility, filter, held, many, match, inside }: Asked): SQL {
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

  const isAdmitted = sql`${listed(dialect, scope, now, 'e', visibility)} AND ${compileFilter(filter, dialect, bindings.bind)}`
  const newest = sql`SELECT rowid AS id FROM entries_fts
    WHERE entries_fts MATCH CASE WHEN ${isMany} THEN ${sampled(scope.org, match)} ELSE ${NOWHERE} END
    ORDER BY rowid DESC LIMIT ${ADMITS_MANY.asked}`
  const admitted = sql`(SELECT count(*) FROM (${newest}) one CROSS JOIN entries e ON e.id = one.id WHERE ${isAdmitted})`
  const led = isOfLists(visibility) ? indexedEntries(context, filter, bindings, maxCheckedIds(inside.length)) : null
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

/** Returns whether only listed entries count, which have indexes. */
const isOfLists = ({ diaryOf, captured }: VisibilityFilter): boolean => diaryOf === null && captured === null

/**
 * Returns the IDs of entries that a filter without index admits, if they are few enough to be checked for this many words; otherwise null.
 */
const scannedIds = async (
  connection: SqlConnection,
  { context, visibility, filter, words }: Pick<Asked, 'context' | 'visibility' | 'filter'> & { readonly words: number },
): Promise<readonly number[] | null> =>
  filter === null || !isOfLists(visibility) ? null : scanForFew(connection, context, filter, maxCheckedIds(words))

/**
 * Returns the entries `e` found by the index of a part of the filter, if there are at most this many; otherwise by a time.
 */
function indexedEntries(context: ReadContext, filter: Filter, bindings: Bindings, most: number) {
  const share = readBudgetOf(context.dialect, filter)
  if (share === null) return null
  const entries = Math.min(most, share.entries)
  const leads = accessPathsOf(context, filter, bindings, { ...share, entries }, { byId: true })
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

/** Reads the result of `ifMany`; null when few entries match. */
const knownOfMany = onlyRow((row): KnownOfMany | null => {
  const counts = jsonOrNull<WordCounts>(row, 'counts')
  if (counts === null) return null
  const admitted = numOrNull(row, 'admitted')
  return {
    counts,
    admitsMany: admitted === null || admitted >= ADMITS_MANY.admitted,
    ids: jsonOrNull<number[]>(row, 'ids'),
  }
})

/** FTS5 searches the entries with a word for an ID, so each long entry is checked separately. */
export const createKnownEntries =
  (connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText['entryTexts'] =>
  async (scope: Scope, { units, columns }, ids) => {
    const { dialect } = connection
    const now = clock.now()
    const compiler = createCompiler(analyzer, columns)
    const from = (columns: SQL, where: SQL): SQL =>
      sql`SELECT ${columns} FROM ${entriesById(dialect, ids)} WHERE ${listed(dialect, scope, now)}${where}`
    const asked = JSON.stringify(units.map(compiler.unit))
    const batch = new Batch()
    const rows = batch.add(
      from(sql`e.id, e.title, ${previewOf(dialect, SCORED_LENGTH)} AS text, ${CODE_COLUMNS}`, sql``),
      asRows,
    )
    const held = batch.add(
      sql`SELECT long.id, unit.key AS place
        FROM (${from(sql`e.id`, sql` AND (${isLong})`)}) long CROSS JOIN json_each(${asked}) unit CROSS JOIN entries_fts
        WHERE entries_fts MATCH unit.value AND entries_fts.rowid = long.id`,
      asRows,
    )
    const result = await batch.read(connection)
    return toEntryTexts(result.of(rows), result.of(held))
  }

const isYes = (rows: readonly Row[]): boolean => rows.some(({ yes }) => yes === 1)

interface Settings {
  readonly indexedFields: IndexedFields
  /** Limits of one search; beyond them the rarest words choose. */
  readonly bound?: SearchBound
  /** Number of matches from which on the rarest words choose. */
  readonly many?: ManyMatch
}

/** Creates the search of candidates with FTS5. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createD1FullText(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  { indexedFields, bound = SEARCH_BOUND, many: bounds = MANY }: Settings,
): FullText {
  const { dialect } = connection

  /**
   * Returns the statement of a search. @param few if candidates are chosen by the words of `request`, which are some of its query
   *
   * @param known facts about a search with many matches, if they were queried
   * @param isWithin whether the search is known to be within its limits
   */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: one statement is put together of its parts, which share what is known of the search
  async function searchOnce(
    scope: Scope,
    request: AnySearch,
    few: FewWords | null = null,
    known: KnownOfMany | null = null,
    isWithin = false,
  ): Promise<TextSearch> {
    const { query, terms, filter, columns, depth, units, rare } = request
    const { diaryOf = null, captured = false, totals: isCounting = true } = request
    const now = clock.now()
    const visibility: VisibilityFilter = { diaryOf, captured: captured ? 'alone' : null }
    const compiler = createCompiler(analyzer, columns)
    const place = { ...placeOf(filter), captured }
    const wide = scopeExpression(scope, { ...place, thread: null })
    const confined = scopeExpression(scope, place)
    const isBeyond = wide !== confined && rare === undefined
    const held = heldIn(scope, place.thread)
    const chosen = searchStrategyOf(request, compiler, known)
    const { way, isAnyOf, isWhole, asksPreferred, isByClasses, isOneClass, isAdmitted, checkedIds: led } = chosen
    const counting = 1 + Number(asksPreferred) + Number(isBeyond)
    const words = terms.map(compiler.term)
    const inside = (where: string) => words.map((word) => `${where} AND ${word}`)
    const isForFew = few === null && isForFewWords(request)
    const match = units
      ? `${confined} AND (${words.join(' OR ')})`
      : compiler.within(query.expression as Expression, confined)
    const isAsked = known === null && (isForFew || chosen.isForFilter)
    const many = isAsked ? manyMatch(scope.org, match, whereMany(isForFew, terms.length, bounds)) : null
    const together = sql`${[confined, ...words].join(' AND ')}`
    // If the filter admits many, few entries are checked before enough are found.
    const large = largeBytes(dialect, scope)
    const reckoned = { counting, filter: isAdmitted ? EVERYTHING : filter, large, held }
    const fits =
      led !== null || isWithin
        ? sql`held (entries, bytes) AS MATERIALIZED (${held}), fits (yes) AS (SELECT 1)`
        : fitsTable({
            ...{ ...reckoned, request, way, bound: bound.once, unless: many },
            isDense: isFrequent(scope.org, together),
            isVeryDense: isFrequent(scope.org, together, VERY_FREQUENT),
          })

    // Candidates are weighted within the scope. `bm25()` would use the rarity of words in all organizations: it would reveal their content,
    // and read their part of the index.
    const before = few?.counts ?? known?.counts ?? null
    const each = inside(confined)
    const counts = sql`counts AS MATERIALIZED (${before ? knownCounts(each, before) : countedBySample(scope.org, each)})`
    const weights = led ? scoreGivenEntries(led, 'terms') : WEIGHED_BY_WORDS

    const shortness = brevity(sql`e.text_words`)
    const columnsOf = candidateColumns({ dialect, analyzer, scope, now }, request)
    const ofCounts = sql`(SELECT json_group_array(json(count) ORDER BY place) FROM counts)`

    /** Returns the condition of scope and filter on an entry `e`, with its bound values. */
    const admission = () => {
      const bindings = dialect.bindings()
      const condition = compileFilter(filter, dialect, bindings.bind)
      return { bindings, condition: sql`${listed(dialect, scope, now, 'e', visibility)} AND ${condition}` }
    }

    /** Returns the best entries of some term combinations, as `admitted`. */
    const ofClasses = (classes: readonly EntryClass[], may: SQL, most: number, held = 0) => {
      const complete = { most: held > 0 ? depth.complete : 0, held }
      const asked = {
        org: scope.org,
        classes,
        plain: isAdmitted,
        admitted: may,
        shortness,
        short: bound.short,
        most,
        complete,
      }
      return byLength(asked)
    }
    /** Returns the chosen entries as `best`, in order. */
    const chosenBy = (tables: (admitted: SQL) => readonly SQL[], shown = (best: SQL): SQL => best): SQL => {
      const { bindings, condition } = admission()
      return withPrelude(
        bindings,
        [fits, ...tables(condition)],
        shown(
          sql`SELECT ${columnsOf(sql`CASE WHEN best.place = 1 THEN ${ofCounts} END`)}, best.held, best.place
              FROM best JOIN entries e ON e.id = best.id`,
        ),
      )
    }

    /**
     * Returns entries with any of the terms, by weight, and the shortest of those with all of them, which are `complete`.
     */
    const withTerms = (): SQL => {
      const { bindings, condition: admitted } = admission()
      const tables = isByClasses
        ? ofClasses(classesOf(words, confined), admitted, depth.candidates, isWhole ? terms.length : 0)
        : [...weights, ...admittedByTerms({ request, admitted, shortness })]
      const best = isByClasses && isWhole ? [] : [bestOfAdmitted(request, isWhole)]
      return withPrelude(
        bindings,
        [fits, counts, ...tables, ...best],
        sql`SELECT ${columnsOf(ofCounts)}, best.complete FROM best JOIN entries e ON e.id = best.id`,
      )
    }

    /**
     * Always returns a row that states whether the search fits its limits, so that no other statement has to check that.
     */
    const withPresence = (best: SQL): SQL => sql`SELECT fits.yes, hit.* FROM fits LEFT JOIN (${best}) hit ON 1 = 1`
    const withRareTerms = (few: number): SQL =>
      chosenBy((admitted) => {
        const best = bestOfRare(admitted, shortness, depth.candidates)
        return [...rareTables(inside(confined), few), best]
      }, withPresence)

    /** Returns the entries with the most and rarest words; the newest if the query has no terms. */
    const candidates = (expression: Expression, limit: number): SQL => {
      const { bindings, condition } = admission()
      // FTS5 returns matches from the newest on, as far as they are read.
      const isNewest = terms.length === 0
      const best = sql`best AS (
          SELECT entries_fts.rowid AS id
          FROM entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
            ${isNewest ? sql`` : sql`LEFT JOIN weighed ON weighed.id = e.id`}
          WHERE entries_fts MATCH ${matchIfFits(compiler.within(expression, confined))}
            AND ${condition}
          ORDER BY ${isNewest ? sql`` : sql`weighed.weight * ${shortness} DESC, `}entries_fts.rowid DESC
          LIMIT ${limit}
        )`
      return withPrelude(
        bindings,
        isNewest ? [fits, counts, best] : [fits, counts, ...weights, best],
        sql`SELECT ${columnsOf(ofCounts)} FROM best JOIN entries e ON e.id = best.id`,
      )
    }
    /** Returns the shortest of entries with the same words. */
    const shortest = (expression: Expression, limit: number): SQL => {
      const { bindings, condition: admitted } = admission()
      const tables = led
        ? [...scoreGivenEntries(led, 'terms'), allOfWeighed({ terms: terms.length, admitted, shortness })]
        : ofClasses([oneClass(terms.length, compiler.within(expression, confined))], admitted, limit)
      const best = sql`best AS (SELECT id FROM admitted ORDER BY shortness DESC, id DESC LIMIT ${limit})`
      return withPrelude(
        bindings,
        [fits, counts, ...tables, best],
        sql`SELECT ${columnsOf(ofCounts)} FROM best JOIN entries e ON e.id = best.id`,
      )
    }

    /** Returns the entries with the most and rarest units. */
    const withUnits = (): SQL =>
      chosenBy((admitted) => {
        if (led !== null)
          return [
            counts,
            ...scoreGivenEntries(led, 'held'),
            bestOfWeighed({ admitted, shortness, most: depth.candidates }),
          ]
        if (!isByClasses) return [counts, ...bestByUnits({ request, compiler, confined, admitted })]
        return [
          counts,
          ...ofClasses(classesOf(words, confined), admitted, depth.candidates),
          placed(sql`SELECT id, held, key FROM admitted`, depth.candidates),
        ]
      })

    const expression = query.expression as Expression
    const batch = new Batch()
    const found = batch.add(
      rare !== undefined
        ? withRareTerms(rare)
        : units
          ? withUnits()
          : isAnyOf
            ? withTerms()
            : isOneClass
              ? shortest(expression, depth.candidates)
              : candidates(expression, depth.candidates),
      asRows,
    )
    const totals = batch.add(totalsOf({ dialect, scope, now }, place, isCounting, rare === undefined), asRows)
    const fitting = rare === undefined ? batch.add(sql`WITH ${fits} SELECT yes FROM fits`, asRows) : found
    const preferred =
      query.preferred && asksPreferred ? batch.add(shortest(query.preferred, depth.complete), asRows) : null
    // Words have the weight of the complete scope, also when only one thread is searched.
    const beyond =
      rare === undefined && isBeyond
        ? batch.add(
            sql`WITH ${fits} SELECT json_group_array(json(count) ORDER BY place) AS counts FROM (${countedTerms(inside(wide), COUNTED)})`,
            asRows,
          )
        : null
    const context = { dialect, scope, now, indexedFields }
    const asked = { context, visibility, filter: isOfPlace(filter) ? null : filter, held, match, inside: each }
    const ofMany = many === null ? null : batch.add(ifMany({ ...asked, many }), knownOfMany)
    const result = await batch.read(connection)
    const learned = ofMany === null ? null : result.of(ofMany)
    if (learned !== null) {
      if (isForFew && learned.admitsMany)
        return byFewWords(request, learned.counts, (some, by) => searchOnce(scope, some, by, learned))
      const isToBeWalked = !learned.admitsMany && learned.ids === null && chosen.mayCheckIds
      const walked = isToBeWalked ? await scannedIds(connection, { ...asked, words: terms.length }) : null
      return searchOnce(scope, request, null, { ...learned, ids: learned.ids ?? walked })
    }
    const answer = { totals: result.of(totals), columns, rare, ofAll: few?.ofAll ?? null }
    if (isYes(result.of(fitting))) {
      const rows = result.of(found)
      const hits = rare === undefined ? rows : rows.filter(({ packed }) => packed !== null)
      return toSearch({
        ...{ ...answer, found: hits, beyond: beyond === null ? undefined : result.of(beyond) },
        preferred: isWhole
          ? hits.filter(({ complete }) => complete === 1)
          : preferred === null
            ? undefined
            : result.of(preferred),
      })
    }

    const costs = await readOne(connection, costsOfWords(request, { ...reckoned, compiler }), asRows)
    const places = placesWithin(bound.once, request, costs)
    if (places.length === 0) throw tooMuch()
    const some = searchBySome({ ...request, query: { ...query, preferred: null } }, places)
    const ofSome = <T extends { readonly counts: WordCounts }>(of: T | null): T | null =>
      of && { ...of, counts: places.map((place) => of.counts[place] as TermCount) }
    const { hits, statistics } = await searchOnce(scope, some, ofSome(few), ofSome(known), true)
    const { entries, entriesWithTerm } = statistics
    // A word without count has the weight of one in every entry.
    const holding = few ? entriesWithTerm : terms.map((_, place) => entriesWithTerm[places.indexOf(place)] ?? entries)
    return { hits, statistics: { ...statistics, entriesWithTerm: holding }, chosenBy: 'rarest words' }
  }

  return {
    engine: 'fts5',
    language: analyzer.language,
    stemming: analyzer.stemming,
    entryTexts: createKnownEntries(connection, analyzer, clock),
    ...searchesBy((scope, request) => searchOnce(scope, request, null)),
  }
}
