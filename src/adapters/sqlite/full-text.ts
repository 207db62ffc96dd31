import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import { MANY, type ManyMatch } from '../../domain/search/candidate-rules'
import type { Expression } from '../../domain/search/query-unit'
import type { Yielder } from '../../domain/yielder'
import type { Clock } from '../../ports/clock'
import type { FullText, TextSearch } from '../../ports/full-text'
import { Batch } from '../sql/core/batch'
import { compileFilter, TRUE } from '../sql/core/compile-filter'
import type { Row, SqlConnection } from '../sql/core/connection'
import { asRows } from '../sql/core/rows'
import { listed, type Sight } from '../sql/core/visibility'
import { withPrelude } from '../sql/tables/entries/read-statements'
import {
  type AnySearch,
  isForFewWords,
  isOfPlace,
  placeOf,
  searchesBy,
  splitUnits,
  toSearch,
  type Units,
} from '../sql/tables/search/candidates'
import { brevity, COUNTED, MOST_BREVITY, unitKey } from '../sql/tables/search/choosing'
import { totalsOf } from '../sql/tables/search/scope-totals'
import { bestByUnits, leastOfLeading, matchIfFits, placed } from './best-by-units'
import { SHARES, type Shares } from './bounded/cost'
import { askedBy, fitsTable, type Way } from './bounded/search-cost'
import { searchInParts } from './bounded/search-in-parts'
import { byLength, classesOf, type EntryClass, isDense, isForClasses } from './by-length'
import { candidateColumns } from './candidate-columns'
import { bestOfRare, counted, countedBefore, countedBySample, rareTables } from './counted-terms'
import { byFewWords, countsIfMany, countsOfMany, type FewWords, manyHold } from './few-words'
import { scopeExpression } from './full-text-index'
import { createCompiler } from './match'
import { createStanding } from './standing'
import { weighed, wordClasses } from './word-classes'

/** Words of one expression by which it is told whether it holds in many entries. */
const MOST_BITS = 30

const isYes = (rows: readonly Row[]): boolean => rows.some(({ yes }) => yes === 1)

interface Settings {
  readonly yielder: Yielder
  /** What one statement may go through; a search of more is done in parts, with rests between. */
  readonly shares?: Shares
  /** From how many on the few words that tell most choose. */
  readonly many?: ManyMatch
}

/** Candidates by FTS5. */
export function createD1FullText(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  { yielder, shares = SHARES, many: manyMatch = MANY }: Settings,
): FullText {
  const { dialect } = connection

  /** @param few where candidates are chosen by the words of `request`, which are some of its query */
  async function searchOnce(scope: Scope, request: AnySearch, few: FewWords | null): Promise<TextSearch> {
    const { query, terms, filter, columns, depth, units, rare } = request
    const { diaryOf = null, captured = false, totals: isCounting = true } = request
    const now = clock.now()
    const sight: Sight = { diaryOf, captured: captured ? 'alone' : null }
    const compiler = createCompiler(analyzer, columns)
    const place = { ...placeOf(filter), captured }
    const wide = scopeExpression(scope, { ...place, thread: null })
    const confined = scopeExpression(scope, place)
    const isBeyond = wide !== confined && rare === undefined
    const held = sql`SELECT coalesce(sum(items), 0), coalesce(sum(bytes), 0) FROM org_usage WHERE org = ${scope.org} AND part = 'entries'`
    const isPreferred = units === undefined && rare === undefined && query.preferred !== null
    /** What holds a term is found, and what holds them all is preferred, but of some of a query's words: neither is asked for once more. */
    const isAnyOf = isPreferred && compiler.isAnyOf(query.expression as Expression, terms)
    const isWhole = isAnyOf && terms.length === query.units.length
    const counting = 1 + Number(isPreferred && !isWhole) + Number(isBeyond)
    const plain = isOfPlace(filter)
    const { alone, composed } = splitUnits(query.units, terms)
    const isOfWords = units ? composed.length === 0 && alone.length === terms.length : isAnyOf
    const isByClasses = isOfWords && isForClasses(terms.length, plain)
    // Under another filter it may be that all that has the words is looked at.
    const way: Way = isByClasses && plain ? 'classes' : isAnyOf ? 'any' : 'other'
    const words = terms.map(compiler.term)
    const inside = (where: string) => words.map((word) => `${where} AND ${word}`)
    const many = isForFewWords(request)
      ? manyHold(scope.org, `${confined} AND (${words.join(' OR ')})`, manyMatch)
      : null
    const fits = fitsTable({
      ...{ asked: askedBy(request, counting, way), way, filter, held, share: shares.once, unless: many },
      isDense: isDense(scope.org, sql`${[confined, ...words].join(' AND ')}`),
    })

    // Candidates are weighed within the scope. `bm25()` would weigh words by how rare they are among the entries of all
    // orgs, and so tell one what the others hold, and read their share of the index for it.
    const known = few && countedBefore(inside(confined), few.counts)
    const counts = sql`counts AS MATERIALIZED (${known ?? countedBySample(scope.org, inside(confined))})`
    const weights = [
      ...wordClasses(sql`
          SELECT words, n, 1 AS unit, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
          FROM (SELECT place, words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0`),
      weighed('terms'),
    ]

    const shortness = brevity(sql`e.text_words`)
    const columnsOf = candidateColumns({ dialect, analyzer, scope, now }, request)
    const ofCounts = sql`(SELECT json_group_array(json(count) ORDER BY place) FROM counts)`

    /** The best of some classes of entries, as `admitted`. */
    const ofClasses = (classes: readonly EntryClass[], may: SQL, most: number, held = 0) => {
      const complete = { most: held > 0 ? depth.complete : 0, held }
      const asked = { org: scope.org, classes, plain, admitted: may, shortness, short: shares.short, most, complete }
      return byLength(asked)
    }
    const single = (expression: Expression): EntryClass => ({
      words: 2 ** Math.min(terms.length, MOST_BITS) - 1,
      held: 1,
      match: `(${compiler.within(expression, confined)})`,
    })

    /** Those that are chosen as `best`, in their places. */
    const chosenBy = (tables: (admitted: SQL) => readonly SQL[], shown = (best: SQL): SQL => best): SQL => {
      const bindings = dialect.bindings()
      const condition = compileFilter(filter, dialect, bindings.bind)
      const admitted = sql`${listed(dialect, scope, now, 'e', sight)} AND ${condition}`
      return withPrelude(
        bindings,
        [fits, ...tables(admitted)],
        shown(
          sql`SELECT ${columnsOf(sql`CASE WHEN best.place = 1 THEN ${ofCounts} END`)}, best.held, best.place
              FROM best JOIN entries e ON e.id = best.id`,
        ),
      )
    }

    /** Those with any of the terms, by their weight, and the shortest of those with all of them, which are `complete`. */
    const withTerms = (): SQL => {
      const bindings = dialect.bindings()
      const may = sql`${listed(dialect, scope, now, 'e', sight)} AND ${compileFilter(filter, dialect, bindings.bind)}`
      const byWord = sql`
          SELECT e.id, weighed.terms = ${terms.length} AS complete, weighed.weight * ${shortness} AS key, ${shortness} AS shortness
          FROM least CROSS JOIN weighed CROSS JOIN entries e ON e.id = weighed.id
          WHERE ${unitKey(sql`weighed.weight`, MOST_BREVITY)} >= least.key AND ${may}`
      const tables = isByClasses
        ? [counts, ...ofClasses(classesOf(words, confined), may, depth.candidates, isWhole ? terms.length : 0)]
        : [
            ...[counts, ...weights],
            // None is above who holds all of them, so those are all looked up.
            ...leastOfLeading({ among: TRUE, admitted: may, shortness, most: depth.candidates }),
            sql`admitted AS MATERIALIZED (${byWord})`,
            sql`whole AS NOT MATERIALIZED (SELECT id, shortness FROM admitted WHERE complete)`,
          ]
      const orWhole = sql`UNION ALL SELECT * FROM (SELECT id, 1 FROM whole ORDER BY shortness DESC, id DESC LIMIT ${depth.complete})`
      const best = sql`best AS (
          SELECT id, max(complete) AS complete FROM (
            SELECT * FROM (SELECT id, 0 AS complete FROM admitted ORDER BY key DESC, id DESC LIMIT ${depth.candidates})
            ${isWhole ? orWhole : sql``}
          ) GROUP BY id
        )`
      return withPrelude(
        bindings,
        [fits, ...tables, best],
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
      const bindings = dialect.bindings()
      const condition = compileFilter(filter, dialect, bindings.bind)
      // FTS5 goes through what matches from the newest on, as far as it is asked to.
      const isNewest = terms.length === 0
      const best = sql`best AS (
          SELECT entries_fts.rowid AS id
          FROM entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
            ${isNewest ? sql`` : sql`LEFT JOIN weighed ON weighed.id = e.id`}
          WHERE entries_fts MATCH ${matchIfFits(compiler.within(expression, confined))}
            AND ${listed(dialect, scope, now, 'e', sight)} AND ${condition}
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
      const bindings = dialect.bindings()
      const may = sql`${listed(dialect, scope, now, 'e', sight)} AND ${compileFilter(filter, dialect, bindings.bind)}`
      const best = sql`best AS (SELECT id FROM admitted ORDER BY shortness DESC, id DESC LIMIT ${limit})`
      return withPrelude(
        bindings,
        [fits, counts, ...ofClasses([single(expression)], may, limit), best],
        sql`SELECT ${columnsOf(ofCounts)} FROM best JOIN entries e ON e.id = best.id`,
      )
    }

    /** Those with the most and the rarest units. */
    const withUnits = ({ atLeast }: Units): SQL =>
      chosenBy((admitted) => {
        if (!isByClasses) return [counts, ...bestByUnits({ request, units: { atLeast }, compiler, confined, admitted })]
        const classes = classesOf(words, confined).filter(({ held }) => held >= atLeast)
        return [
          counts,
          ...ofClasses(classes, admitted, depth.candidates),
          placed(sql`SELECT id, held, key FROM admitted`, depth.candidates),
        ]
      })

    const expression = query.expression as Expression
    const batch = new Batch()
    const found = batch.add(
      rare !== undefined
        ? withRareTerms(rare)
        : units
          ? withUnits(units)
          : isAnyOf
            ? withTerms()
            : expression.op === 'unit' && terms.length > 0
              ? shortest(expression, depth.candidates)
              : candidates(expression, depth.candidates),
      asRows,
    )
    const totals = batch.add(totalsOf({ dialect, scope, now }, place, isCounting, rare === undefined), asRows)
    const fitting = rare === undefined ? batch.add(sql`WITH ${fits} SELECT yes FROM fits`, asRows) : found
    const preferred =
      rare === undefined && query.preferred && isPreferred && !isWhole
        ? batch.add(shortest(query.preferred, depth.complete), asRows)
        : null
    // Words weigh what they weigh in the whole scope, also where only one thread is searched.
    const beyond =
      rare === undefined && isBeyond
        ? batch.add(
            sql`WITH ${fits} SELECT json_group_array(json(count) ORDER BY place) AS counts FROM (${counted(inside(wide), COUNTED)})`,
            asRows,
          )
        : null
    const ofMany = many === null ? null : batch.add(countsIfMany(scope.org, held, many, inside(confined)), countsOfMany)
    const result = await batch.read(connection)
    const numbersOfMany = ofMany === null ? null : result.of(ofMany)
    if (numbersOfMany !== null) return byFewWords(request, numbersOfMany, (some, by) => searchOnce(scope, some, by))
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

    const admission = () => {
      const bindings = dialect.bindings()
      const condition = compileFilter(filter, dialect, bindings.bind)
      return { bindings, condition: sql`${listed(dialect, scope, now, 'e', sight)} AND ${condition}` }
    }
    const parts = await searchInParts({ connection, yielder, shares, compiler, request, confined, wide, admission })
    const numbers = JSON.stringify(parts.counts)
    // As `best` tells them; of candidates that an expression chose nobody asks it.
    const rowsOf = (best: typeof parts.found, isPlaced: boolean): SQL => {
      const given = JSON.stringify(best.map(({ id, held }, i) => [id, held, isPlaced ? i + 1 : 0]))
      const rows = dialect.jsonTable(sql`${given}`, { id: 'integer', held: 'integer', place: 'integer' })
      return sql`SELECT ${columnsOf(sql`${numbers}`)}, best.held, best.place
            FROM ${rows} best CROSS JOIN entries e ON e.id = best.id`
    }
    const shown = new Batch()
    const chosen = shown.add(rowsOf(parts.found, units !== undefined || rare !== undefined), asRows)
    const complete = shown.add(rowsOf(parts.preferred, false), asRows)
    const rows = await shown.read(connection)
    return toSearch({
      ...answer,
      found: rows.of(chosen),
      preferred: rows.of(complete),
      beyond: parts.beyond === null ? undefined : [{ counts: JSON.stringify(parts.beyond) }],
    })
  }

  return {
    engine: 'fts5',
    language: analyzer.language,
    stemming: analyzer.stemming,
    standing: createStanding(connection, analyzer, clock),
    ...searchesBy((scope, request) => searchOnce(scope, request, null)),
  }
}
