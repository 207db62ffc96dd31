import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import { EVERYTHING } from '../../domain/search/filter'
import type { Expression } from '../../domain/search/query-unit'
import type { Clock } from '../../ports/clock'
import type { FullText, TextSearch } from '../../ports/full-text'
import { Batch, readOne } from '../sql/core/batch'
import { compileFilter } from '../sql/core/compile-filter'
import type { Row, SqlConnection } from '../sql/core/connection'
import type { IndexedFields } from '../sql/core/dialect'
import { asRows } from '../sql/core/rows'
import { listed, type Sight } from '../sql/core/visibility'
import { withPrelude } from '../sql/tables/entries/read-statements'
import { largeBytes } from '../sql/tables/entries/share'
import { brevity, COUNTED, MANY, type ManyMatch } from '../sql/tables/search/candidate-rules'
import {
  type AnySearch,
  isForFewWords,
  isOfPlace,
  placeOf,
  searchesBy,
  type TermCount,
  toSearch,
} from '../sql/tables/search/candidates'
import { totalsOf } from '../sql/tables/search/scope-totals'
import { byLength, classesOf, type EntryClass, isDense, oneClass, VERY_DENSE } from './by-length'
import { candidateColumns } from './candidate-columns'
import { SEARCH_BOUND, type SearchBound } from './cost'
import { bestOfRare, counted, countedBefore, countedBySample, rareTables } from './counted-terms'
import { scopeExpression } from './full-text-index'
import {
  admittedByTerms,
  allOfWeighed,
  bestByUnits,
  bestOfAdmitted,
  bestOfWeighed,
  matchIfFits,
  placed,
  WEIGHED_BY_WORDS,
  weighedAmong,
} from './grouped'
import { createCompiler } from './match'
import { costsOfWords, fitsTable, heldIn, placesWithin, tooMuch } from './search-bound'
import {
  byFewWords,
  type FewWords,
  ifMany,
  type KnownOfMany,
  knownOfMany,
  manyMatch,
  searchBySome,
  type WordCounts,
  walkedTo,
  wayOf,
  whereMany,
} from './search-way'
import { createStanding } from './standing'

const isYes = (rows: readonly Row[]): boolean => rows.some(({ yes }) => yes === 1)

interface Settings {
  readonly indexedFields: IndexedFields
  /** The work of one search; beyond it the rarest words choose. */
  readonly bound?: SearchBound
  /** From how many on the few words that tell most choose. */
  readonly many?: ManyMatch
}

/** Candidates by FTS5. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createD1FullText(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  { indexedFields, bound = SEARCH_BOUND, many: bounds = MANY }: Settings,
): FullText {
  const { dialect } = connection

  /**
   * @param few where candidates are chosen by the words of `request`, which are some of its query
   * @param known where it was asked whether many entries match
   * @param isWithin whether the search is known to be within the bound
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
    const sight: Sight = { diaryOf, captured: captured ? 'alone' : null }
    const compiler = createCompiler(analyzer, columns)
    const place = { ...placeOf(filter), captured }
    const wide = scopeExpression(scope, { ...place, thread: null })
    const confined = scopeExpression(scope, place)
    const isBeyond = wide !== confined && rare === undefined
    const held = heldIn(scope, place.thread)
    const chosen = wayOf(request, compiler, known)
    const { way, isAnyOf, isWhole, asksPreferred, isByClasses, isOneClass, isAdmitted, led } = chosen
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
    // Where the filter admits many, few entries are asked before enough are found.
    const large = largeBytes(dialect, scope)
    const reckoned = { counting, filter: isAdmitted ? EVERYTHING : filter, large, held }
    const fits =
      led !== null || isWithin
        ? sql`held (entries, bytes) AS MATERIALIZED (${held}), fits (yes) AS (SELECT 1)`
        : fitsTable({
            ...{ ...reckoned, request, way, bound: bound.once, unless: many },
            isDense: isDense(scope.org, together),
            isVeryDense: isDense(scope.org, together, VERY_DENSE),
          })

    // Candidates are weighed within the scope. `bm25()` would weigh words by how rare they are among the entries of all
    // orgs, and so tell one what the others hold, and read their share of the index for it.
    const before = few?.counts ?? known?.counts ?? null
    const each = inside(confined)
    const counts = sql`counts AS MATERIALIZED (${before ? countedBefore(each, before) : countedBySample(scope.org, each)})`
    const weights = led ? weighedAmong(led, 'terms') : WEIGHED_BY_WORDS

    const shortness = brevity(sql`e.text_words`)
    const columnsOf = candidateColumns({ dialect, analyzer, scope, now }, request)
    const ofCounts = sql`(SELECT json_group_array(json(count) ORDER BY place) FROM counts)`

    /** What scope and filter ask of an entry `e`, with the values of that. */
    const admission = () => {
      const bindings = dialect.bindings()
      const condition = compileFilter(filter, dialect, bindings.bind)
      return { bindings, condition: sql`${listed(dialect, scope, now, 'e', sight)} AND ${condition}` }
    }

    /** The best of some classes of entries, as `admitted`. */
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
    /** Those that are chosen as `best`, in their places. */
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

    /** Those with any of the terms, by their weight, and the shortest of those with all of them, which are `complete`. */
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

    /** Always a row, which says whether the search fits, so that no other statement has to find that out. */
    const withPresence = (best: SQL): SQL => sql`SELECT fits.yes, hit.* FROM fits LEFT JOIN (${best}) hit ON 1 = 1`
    const withRareTerms = (few: number): SQL =>
      chosenBy((admitted) => {
        const best = bestOfRare(admitted, shortness, depth.candidates)
        return [...rareTables(inside(confined), few), best]
      }, withPresence)

    /** Those that hold the most and the rarest words; the newest, where none are asked for. */
    const candidates = (expression: Expression, limit: number): SQL => {
      const { bindings, condition } = admission()
      // FTS5 goes through what matches from the newest on, as far as it is asked to.
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
    /** Of entries that all hold the same words, the shortest. */
    const shortest = (expression: Expression, limit: number): SQL => {
      const { bindings, condition: admitted } = admission()
      const tables = led
        ? [...weighedAmong(led, 'terms'), allOfWeighed({ terms: terms.length, admitted, shortness })]
        : ofClasses([oneClass(terms.length, compiler.within(expression, confined))], admitted, limit)
      const best = sql`best AS (SELECT id FROM admitted ORDER BY shortness DESC, id DESC LIMIT ${limit})`
      return withPrelude(
        bindings,
        [fits, counts, ...tables, best],
        sql`SELECT ${columnsOf(ofCounts)} FROM best JOIN entries e ON e.id = best.id`,
      )
    }

    /** Those with the most and the rarest units. */
    const withUnits = (): SQL =>
      chosenBy((admitted) => {
        if (led !== null)
          return [counts, ...weighedAmong(led, 'held'), bestOfWeighed({ admitted, shortness, most: depth.candidates })]
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
    // Words weigh what they weigh in the whole scope, also where only one thread is searched.
    const beyond =
      rare === undefined && isBeyond
        ? batch.add(
            sql`WITH ${fits} SELECT json_group_array(json(count) ORDER BY place) AS counts FROM (${counted(inside(wide), COUNTED)})`,
            asRows,
          )
        : null
    const context = { dialect, scope, now, indexedFields }
    const asked = { context, sight, filter: isOfPlace(filter) ? null : filter, held, match, inside: each }
    const ofMany = many === null ? null : batch.add(ifMany({ ...asked, many }), knownOfMany)
    const result = await batch.read(connection)
    const learned = ofMany === null ? null : result.of(ofMany)
    if (learned !== null) {
      if (isForFew && learned.admitsMany)
        return byFewWords(request, learned.counts, (some, by) => searchOnce(scope, some, by, learned))
      const isToBeWalked = !learned.admitsMany && learned.ids === null && chosen.mayBeLed
      const walked = isToBeWalked ? await walkedTo(connection, { ...asked, words: terms.length }) : null
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
    // A word that was not counted weighs as one of every entry.
    const holding = few ? entriesWithTerm : terms.map((_, place) => entriesWithTerm[places.indexOf(place)] ?? entries)
    return { hits, statistics: { ...statistics, entriesWithTerm: holding }, chosenBy: 'rarest words' }
  }

  return {
    engine: 'fts5',
    language: analyzer.language,
    stemming: analyzer.stemming,
    standing: createStanding(connection, analyzer, clock),
    ...searchesBy((scope, request) => searchOnce(scope, request, null)),
  }
}
