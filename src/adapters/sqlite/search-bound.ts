import { type SQL, sql } from 'drizzle-orm'
import { MAX_METADATA_BYTES } from '../../domain/entry/metadata'
import { limitExceeded } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import type { Filter } from '../../domain/search/filter'
import { weightOf } from '../../domain/search/filter-weight'
import type { Expression, Unit } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import type { Row } from '../sql/core/connection'
import { num } from '../sql/core/rows'
import { LARGE } from '../sql/tables/entries/read-budget'
import { type AnySearch, splitUnits } from '../sql/tables/search/candidates'
import { COST, POSTINGS } from './cost'
import type { MatchCompiler } from './match'

/** Estimates the sizes of postings from FTS5's own tables, without reading the postings. */

/** FTS5 stores terms after this character. */
const MAIN_INDEX = '0'
/** Bytes of a leaf page of the index. */
const LEAF_PAGE = 4050

/** Leaf pages of a segment have adjacent IDs. */
const leafPageIds = (segment: SQL): SQL => sql`BETWEEN ${segment} << 37 AND (${segment} << 37) + 2147483647`
/** Returns the number of the last leaf page of a segment. */
export const lastLeafPage = (segment: SQL): SQL =>
  sql`(SELECT max(d.id) & 2147483647 FROM entries_fts_data d WHERE d.id ${leafPageIds(segment)})`

/**
 * Returns the number of leaf pages of a segment; the first ones of a segment that is being merged are already deleted.
 */
export const leafPagesOf = (segment: SQL): SQL =>
  sql`(${lastLeafPage(segment)} - (SELECT min(d.id) & 2147483647 FROM entries_fts_data d WHERE d.id ${leafPageIds(segment)}) + 1)`

/**
 * Returns the bytes of postings of a word in all segments, with an error of some thousand bytes for each segment: FTS5 stores the first
 * term of each leaf page (`_idx`), so that no postings are read.
 */
const postingsOf = (word: SQL, prefix: SQL): SQL => {
  const from = sql`CAST(${sql.raw(`'${MAIN_INDEX}'`)} || ${word} AS BLOB)`
  const to = sql`CASE WHEN ${prefix} THEN CAST(${from} || x'ff' AS BLOB) ELSE ${from} END`
  return sql`(
    SELECT coalesce(sum(max(
        coalesce(
          (SELECT i.pgno / 2 FROM entries_fts_idx i WHERE i.segid = segments.id AND i.term > ${to} ORDER BY i.term LIMIT 1),
          ${lastLeafPage(sql`segments.id`)}
        ) - coalesce(
          (SELECT i.pgno / 2 FROM entries_fts_idx i WHERE i.segid = segments.id AND i.term <= ${from} ORDER BY i.term DESC LIMIT 1), 0
        ), 0)), 0) * ${sql.raw(String(LEAF_PAGE))}
    FROM segments
  )`
}

/** The IDs of the segments, and one row without any. */
export const SEGMENTS = sql`segments (id) AS (
  SELECT min(segid) FROM entries_fts_idx
  UNION ALL SELECT (SELECT min(segid) FROM entries_fts_idx WHERE segid > segments.id) FROM segments WHERE segments.id IS NOT NULL
)`

/**
 * Limits what one search makes FTS5 read (platform contract §6). FTS5 reads all positions of a word in every text, once for each use of the
 * word in a statement, and the database serves no other request meanwhile. A search beyond the limit chooses its candidates by its rarest
 * words.
 */

/** How a search finds entries by words. */
export type SearchStrategy = 'classes' | 'class' | 'any' | 'other'

/** Factor for a prefix: FTS5 merges the postings of all its words first. */
const MERGING = 3

/**
 * Maximum number of words that choose the candidates of a search beyond the limit: three have seven combinations, which FTS5 finds in four
 * passes.
 */
const MOST_CHOOSING = 3

/**
 * Returns how many times a search by combinations reads its words if many entries contain all of them: to count them, to check whether
 * entries contain all, and for the length steps that find enough.
 */
const together = (words: number): number => Math.max(4, words + 1)

/** Returns the same if few entries contain all of them: each combination queries all words and the scope. */
const apart = (words: number): number => Math.max(together(words), ((2 ** words - 1) * (words + 1)) / 7)

/**
 * Returns a query of how many `entries` and `bytes` of text a search may have to read: of the thread, or of the organization.
 */
export const heldIn = ({ org }: Scope, thread: string | null): SQL => {
  const from =
    thread === null
      ? sql`sum(entries), 0), coalesce(sum(bytes), 0) FROM entry_counters WHERE org = ${org}`
      : sql`sum(entries), 0), coalesce(sum(bytes), 0) FROM thread_counters WHERE org = ${org} AND thread_id = ${thread}`
  return sql`SELECT coalesce(${from}`
}

/** A word or prefix, and how many times the statements of a search query it. */
type WordQuery = readonly [word: string, isPrefix: boolean, times: number]

const ofUnits = (units: readonly Unit[], times: number): WordQuery[] =>
  units.flatMap(({ terms, prefix }) =>
    terms.map((word, i): WordQuery => [word, prefix && i === terms.length - 1, times]),
  )

const ofTerms = (terms: readonly ScoredTerm[], times: number): WordQuery[] =>
  terms.map(({ term, by }) => [term, by === 'beginning', times])

const unitsIn = (expression: Expression | null): Unit[] =>
  expression === null
    ? []
    : expression.op === 'unit'
      ? [expression.unit]
      : expression.op === 'not'
        ? unitsIn(expression.of)
        : expression.of.flatMap(unitsIn)

/**
 * Returns the words that the statements of a search query.
 *
 * @param counting how many statements count the terms
 * @param way `classes`: by term combinations. `class`: all matches are one combination. `any`: by each word, so that the preferred entries
 * are found
 * with the others
 */
function wordQueries({ query, terms, units, rare }: AnySearch, counting: number, way: SearchStrategy): WordQuery[] {
  if (way === 'classes') return ofTerms(terms, counting - 1 + together(terms.length))
  if (way === 'class') {
    const own = unitsIn(query.expression)
    return [...ofTerms(terms, counting), ...ofUnits(own, together(own.flatMap((unit) => unit.terms).length))]
  }
  if (rare !== undefined) return ofTerms(terms, counting + 1)
  // Phrases are queried separately and, if entries must contain all units, together with the others.
  if (units) {
    const phrases = query.units.filter((unit) => unit.terms.length > 1)
    return [...ofTerms(terms, counting + 1), ...ofUnits(query.units, 1), ...ofUnits(phrases, 1)]
  }
  const preferred = way === 'any' ? [] : unitsIn(query.preferred)
  const isAlone = query.expression?.op === 'unit'
  return [...ofTerms(terms, counting + (isAlone ? 0 : 1)), ...ofUnits([...unitsIn(query.expression), ...preferred], 1)]
}

/** Returns each word once, with its number of times. */
function summed(asked: readonly WordQuery[]): WordQuery[] {
  const sums = new Map<string, WordQuery>()
  for (const [word, isPrefix, times] of asked) {
    const key = `${isPrefix ? '*' : '='}${word}`
    sums.set(key, [word, isPrefix, times * (isPrefix ? MERGING : 1) + (sums.get(key)?.[2] ?? 0)])
  }
  return [...sums.values()]
}

const number = (value: number): SQL => sql.raw(Number.isInteger(value) ? String(value) : value.toFixed(2))

/**
 * Returns the cost of the filter for some entries of the table `held`. Metadata are read once, and are included in `held`.
 *
 * @param large bytes of all large metadata of the organization; null if not needed
 */
const filtered = (filter: Filter, entries: SQL, large: SQL | null): SQL => {
  const { entry, byte } = weightOf(filter)
  if (byte === 0) return sql`0`
  const bytes =
    large === null ? sql`${entries} * ${number(MAX_METADATA_BYTES)}` : sql`${entries} * ${number(LARGE)} + ${large}`
  return sql`(${entries} * ${number(entry * COST.filtered)} + min(${bytes}, held.bytes) * ${number(byte * COST.metadata)})`
}

const withWord = (bytes: SQL): SQL => sql`min(held.entries, ${bytes} / ${number(POSTINGS.least)})`

/** Returns rows of `place`, `times` and `bytes` of the postings of words; requires `segments` before. */
const postings = (asked: readonly WordQuery[]): SQL => sql`
  SELECT asked.key AS place, asked.value ->> 2 AS times, ${postingsOf(sql`(asked.value ->> 0)`, sql`(asked.value ->> 1)`)} AS bytes
  FROM json_each(${JSON.stringify(asked.map(([word, isPrefix, times]) => [word, isPrefix ? 1 : 0, times]))}) asked`

interface Fitting {
  readonly request: AnySearch
  /** Number of statements that count the terms. */
  readonly counting: number
  readonly way: SearchStrategy
  /** The condition on each entry with a word. */
  readonly filter: Filter
  /** Query of the bytes of all large metadata of the organization. */
  readonly large: SQL
  /** Query of `heldIn`. */
  readonly held: SQL
  readonly bound: number
  /** Whether many, or very many, entries contain all of the words; evaluated only if needed. */
  readonly isDense: SQL
  readonly isVeryDense: SQL
  /** A condition on the one row of `held` under which the search does not run; null for none. */
  readonly unless: SQL | null
}

/** Returns `fits`: one row that states whether a search is within the limit. */
export function fitsTable({
  request,
  counting,
  way,
  filter,
  large,
  held,
  bound,
  isDense,
  isVeryDense,
  unless,
}: Fitting): SQL {
  const asked = summed(wordQueries(request, counting, way))
  // With combinations an entry is read once; otherwise for each of its words, each time that the word is queried.
  const isOnce = way === 'classes' || way === 'class'
  const passes = together(asked.length)
  const longer = way === 'classes' ? apart(asked.length) / passes : 1
  // If a few steps find enough, the postings are not read to their end.
  const shorter = way === 'classes' ? sql.raw((2 / passes).toFixed(2)) : sql`1`
  const all = longer * asked.reduce((sum, [, , times]) => sum + times, 0)
  const entry = number(COST.found)
  const found = isOnce
    ? sql`min(held.entries, sum(postings.bytes) / ${number(POSTINGS.least)}) * ${entry}`
    : sql`sum(times * ${withWord(sql`postings.bytes`)} * ${entry})`
  const cost = sql`coalesce(sum(times * postings.bytes + ${filtered(filter, withWord(sql`postings.bytes`), large)}) + ${found}, 0)`
  const within = (all: SQL): SQL => sql`${all} <= ${bound}`
  const atMost = sql`bytes * ${number(POSTINGS.most)} * ${all} + entries * ${entry} * ${isOnce ? 1 : all}`
  return sql`held (entries, bytes) AS MATERIALIZED (${held}), fits (yes) AS MATERIALIZED (
    SELECT CASE
      ${unless === null ? sql`` : sql`WHEN ${unless} THEN 0`}
      WHEN ${within(sql`${atMost} + ${filtered(filter, sql`held.entries`, null)} * ${asked.length}`)} THEN 1
      ELSE (
        WITH RECURSIVE ${SEGMENTS}, postings AS (${postings(asked)})
        SELECT CASE WHEN ${within(sql`${cost} * ${longer}`)} THEN 1 WHEN ${within(cost)} THEN ${isDense}
          WHEN ${within(sql`${cost} * ${shorter}`)} THEN ${isVeryDense} ELSE 0 END
        FROM postings
      )
    END FROM held
  )`
}

/**
 * Maximum number of words that are looked up for their rarity, and the count of entries of all organizations up to which a word is rare.
 */
const [MOST_LOOKED_UP, RARE] = [12, 16]

/**
 * Returns a query of the terms of a search beyond the limit: rows of `place` and `cost`, the rarest first. The index only has the first
 * words of its pages, so a rare word next to a frequent one seems frequent; those that seem rarest are looked up.
 */
export const costsOfWords = (
  { terms }: Pick<AnySearch, 'terms'>,
  {
    compiler,
    counting,
    filter,
    large,
    held,
  }: Pick<Fitting, 'counting' | 'filter' | 'large' | 'held'> & { readonly compiler: MatchCompiler },
): SQL => {
  const asked = ofTerms(terms, counting - 1 + together(MOST_CHOOSING))
  const found = withWord(sql`sized.bytes`)
  const matches = JSON.stringify(terms.map(compiler.term))
  const ofRare = sql`SELECT CASE WHEN count(*) < ${number(RARE)} THEN coalesce(sum(e.bytes), 0) END
    FROM (SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH json_extract(${matches}, '$[' || postings.place || ']')
      LIMIT ${number(RARE)}) one CROSS JOIN entries e ON e.id = one.id`
  return sql`WITH RECURSIVE ${SEGMENTS}, held (entries, bytes) AS MATERIALIZED (${held}),
    postings AS MATERIALIZED (SELECT *, row_number() OVER (ORDER BY bytes, place) AS rank FROM (${postings(asked)})),
    sized AS MATERIALIZED (
      SELECT place, times, coalesce(CASE WHEN rank <= ${number(MOST_LOOKED_UP)} THEN (${ofRare}) END, bytes) AS bytes FROM postings
    )
    SELECT place, times * sized.bytes + ${found} * ${number(COST.found)} + ${filtered(filter, found, large)} AS cost
    FROM sized CROSS JOIN held ORDER BY cost, place`
}

/**
 * Returns the positions of the rarest words that may choose and are within the limit together, in the order of the query.
 *
 * @param rows of `costsOfWords`
 */
export function placesWithin(bound: number, request: AnySearch, rows: readonly Row[]): number[] {
  const mayChoose = choosingPlaces(request)
  const places: number[] = []
  let sum = 0
  for (const row of rows) {
    const place = num(row, 'place')
    if (!mayChoose.includes(place)) continue
    sum += num(row, 'cost')
    if (places.length === MOST_CHOOSING || sum > bound) break
    places.push(place)
  }
  return places.sort((a, b) => a - b)
}

/** Returns the terms that may choose: single words, if the search finds entries with any of its units. */
function choosingPlaces({ query, terms, units, rare }: AnySearch): readonly number[] {
  if (rare !== undefined) return terms.flatMap(({ by }, place) => (by === 'beginning' ? [] : [place]))
  const { alone, composed } = splitUnits(query.units, terms)
  const { expression } = query
  const findsAny =
    units !== undefined ||
    (expression?.op === 'or' && expression.of.every(({ op }) => op === 'unit')) ||
    (expression?.op === 'unit' && composed.length === 0)
  return findsAny ? alone : []
}

export const tooMuch = () =>
  limitExceeded(
    'These words occur too often in too much text; search without quotes, for fewer, longer or rarer words, or in one thread',
  )
