// The SQL dialect of SQLite in D1, and the merging of its search index. Each commit adds a segment, and a search looks up each word in
// every segment. FTS5 itself merges four segments of a size; the schedule merges two (`usermerge`, 0001_initial.sql).

import { type SQL, sql } from 'drizzle-orm'
import { jsonText } from '../../domain/json/write'
import { paginate } from '../../domain/paginate'
import { scheduler } from '../../domain/scheduler'
import type { Analyzer } from '../../domain/search/analysis'
import type { Filter, Predicate, Scalar, ScalarType } from '../../domain/search/filter'
import { conjuncts, filterTooExpensive } from '../../domain/search/filter-weight'
import type { Window } from '../../domain/search/window'
import { foldAscii } from '../../domain/text'
import { compileFilter, FALSE, isOf, joinConditions, layerIs, TRUE } from '../sql/core/compile-filter'
import type { Row } from '../sql/core/connection'
import type {
  Bind,
  Bindings,
  Bounded,
  CodeSpelling,
  IndexMerge,
  PredicateCompilers,
  SqlDialect,
} from '../sql/core/dialect'
import { json, num, numOrNull, onlyRow } from '../sql/core/rows'
import { approved, listed } from '../sql/core/visibility'
import type { Plan } from '../sql/plan/planner-hints'
import { changesOf, NEWEST_FIRST } from '../sql/tables/changes/change-rows'
import { visibleTotals } from '../sql/tables/counts/visible-counts'
import {
  mostOfSmall,
  noneIsLarge,
  PARSED_BYTES,
  type ReadBudget,
  readBudgetOf,
} from '../sql/tables/entries/read-budget'
import { type ReadContext, withPrelude } from '../sql/tables/entries/read-statements'
import { COUNTED, mostCounted } from '../sql/tables/pages/access-paths'
import { codeTerm } from '../sql/tables/search/scope-terms'
import { FILTERED_AT_ONCE } from './cost'
import { entryIds } from './entry-ids'
import { indexEntries, indexEntry } from './full-text-index'
import { lastLeafPage, leafPagesOf, SEGMENTS } from './search-bound'

/** Maximum number of parts of a compound query: D1 allows five. */
const MAX_COMPOUND = 4

/** Queries of one compound are merged as they are read, if an index has each in the order of the result. */
const firstOf: Plan['firstOf'] = (queries, alias, ending) =>
  queries.length <= MAX_COMPOUND
    ? sql`${sql.join([...queries], sql` UNION ALL `)} ${ending}`
    : firstOf(
        Array.from({ length: Math.ceil(queries.length / MAX_COMPOUND) }, (_, i) => {
          const group = firstOf(queries.slice(i * MAX_COMPOUND, (i + 1) * MAX_COMPOUND), alias, ending)
          return sql`SELECT * FROM (${group}) AS ${sql.raw(`${alias}_group_${i}`)}`
        }),
        alias,
        ending,
      )

const SQLITE_PLAN: Plan = {
  follow: (table, alias, on) => sql`CROSS JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  followLeft: (table, alias, on) => sql`LEFT JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  oneOf: (query) => sql`IN (${query})`,
  firstOf,
  forEach: (values, alias, queries, ending) =>
    firstOf(
      queries.flatMap((query) => values.map((value) => query(sql`${value}`))),
      alias,
      ending,
    ),
  beyond: ([known, value], column, number) => sql`${known} = ${value} AND ${column} > ${number}`,
  exists: (query) => sql`EXISTS (${query})`,
  rangeOf: (column, value) => sql`${column} = ${value}`,
  inOrder: (_, wanted) => wanted,
  // The list is read in its order; an ORDER BY would sort all of it.
  asListed: () => sql``,
  filterOnly: (condition) => condition,
  unordered: (expression) => sql`+${expression}`,
  illustratedEntries: sql`entries e INDEXED BY entries_images_idx`,
  entriesOfProject: sql`entries e INDEXED BY entries_project_layer_created_idx`,
  entriesOfLayer: sql`entries e INDEXED BY entries_layer_created_idx`,
  entriesBy: (index) => sql.raw(`entries e INDEXED BY ${index}`),
  tableBy: (table, index) => sql.raw(`${table} INDEXED BY ${index}`),
}

/** Trigrams and words of code in FTS5: terms only, each prefixed with its project. */
const HEX = Array.from({ length: 65_536 }, (_, gram) => gram.toString(16).padStart(4, '0'))

const all = (terms: readonly string[]): string => terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' AND ')

const D1_CODE: CodeSpelling = {
  position: (text, part) => sql`instr(${text}, ${part})`,
  lower: (text) => sql`lower(${text})`,

  samePath: (column, path) => sql`${column} = ${path}`,

  insertGrams(scope, files) {
    const head = codeTerm(scope.org, scope.project)
    const rows = JSON.stringify(files.map(([path, grams]) => [path, grams.map((gram) => head + HEX[gram]).join(' ')]))
    return sql`
      INSERT INTO code_grams (rowid, grams)
      SELECT f.id, made.value ->> 1
      FROM json_each(${rows}) made
      CROSS JOIN code_files f ON f.org = ${scope.org} AND f.project = ${scope.project}
        AND f.root = ${scope.root} AND f.path = made.value ->> 0`
  },

  insertWords(scope, chunks) {
    const head = codeTerm(scope.org, scope.project)
    const rows = JSON.stringify(chunks.map(([path, n, words]) => [path, n, words.map((word) => head + word).join(' ')]))
    return sql`
      INSERT INTO code_words (rowid, words)
      SELECT c.id, made.value ->> 2
      FROM json_each(${rows}) made
      CROSS JOIN code_files f ON f.org = ${scope.org} AND f.project = ${scope.project}
        AND f.root = ${scope.root} AND f.path = made.value ->> 0
      CROSS JOIN code_chunks c ON c.file_id = f.id AND c.n = made.value ->> 1`
  },

  filesWith(scope, grams) {
    const head = codeTerm(scope.org, scope.project)
    return sql`SELECT rowid AS id FROM code_grams WHERE code_grams MATCH ${all(grams.map((gram) => head + HEX[gram]))}`
  },

  chunksWith(scope, units) {
    const head = codeTerm(scope.org, scope.project)
    const queries = JSON.stringify(units.map((terms) => all(terms.map((term) => head + term))))
    return sql`
      SELECT asked.key AS unit, code_words.rowid AS id
      FROM json_each(${queries}) asked CROSS JOIN code_words
      WHERE code_words MATCH asked.value`
  },
}

/**
 * Returns whether two metadata are equal apart from the order of keys. Both trees are walked together, member by member: every value of one
 * must have an equal one in the other. Comparing paths instead would be quadratic in the depth. No expression may refer to an outer row,
 * because then SQLite uses no automatic index, and a list would take quadratic time.
 */
const saySame = (id: SQL, given: (was: SQL) => SQL): SQL => sql`(
  WITH RECURSIVE standing AS (SELECT metadata FROM entries WHERE id = ${id}),
    both_texts AS MATERIALIZED (SELECT metadata AS was, ${given(sql`standing.metadata`)} AS given FROM standing),
    one AS MATERIALIZED (SELECT t.id, t.parent, t.key, t.type, t.atom FROM both_texts CROSS JOIN json_tree(both_texts.was) t),
    other AS MATERIALIZED (SELECT t.id, t.parent, t.key, t.type, t.atom FROM both_texts CROSS JOIN json_tree(both_texts.given) t),
    pairs (one_id, other_id) AS (
      SELECT one.id, other.id FROM one, other WHERE one.parent IS NULL AND other.parent IS NULL AND one.type = other.type
      UNION ALL
      SELECT one.id, other.id FROM pairs
        CROSS JOIN one ON one.parent = pairs.one_id
        CROSS JOIN other ON other.parent = pairs.other_id AND other.key = one.key AND other.type = one.type AND other.atom IS one.atom
    )
  SELECT (SELECT count(*) FROM pairs) = (SELECT count(*) FROM one)
)`

/** Equal metadata have texts of equal length, so that texts of different lengths are not parsed. */
export const asWritten = (id: SQL, given: (was: SQL) => SQL): SQL => sql`(
  SELECT CASE WHEN both_texts.was <> both_texts.given AND length(both_texts.was) = length(both_texts.given) AND ${saySame(id, given)}
    THEN both_texts.was ELSE both_texts.given END
  FROM (SELECT entries.metadata AS was, ${given(sql`entries.metadata`)} AS given) AS both_texts
)`

/** Leaf pages that one merge writes. */
const PAGES = 64

/**
 * Maximum size of an index that the schedule merges, in leaf pages of 4,050 bytes. FTS5 counts only written pages and stops only between
 * two words, so a merge may take longer: to the end of a word, and through deleted entries. Larger indexes are merged by writes alone.
 */
export const MERGED = {
  /** All leaf pages. */
  all: 20_000,
  /** Leaf pages of the longest postings of one word, summed over all segments. */
  spanned: 1_500,
} as const
export type Merged = { readonly [Name in keyof typeof MERGED]: number }

/**
 * Maximum size for removing words from the index permanently: they remain until every segment that contains them is rewritten. A step
 * processes the complete index only if almost nothing of it remains.
 */
const FORGOTTEN: Merged = { all: 60_000, spanned: 4_000 }

/** Returns a merge. @param count pages; below 0 to merge all segments into one */
const merging = (count: number, fewest: number, most: Merged): SQL => sql`INSERT INTO entries_fts (entries_fts, rank)
    WITH RECURSIVE ${SEGMENTS}, begun (segid, page, gap) AS (
      SELECT segid, pgno / 2, pgno / 2 - lag(pgno / 2) OVER (PARTITION BY segid ORDER BY term) FROM entries_fts_idx
    ), spanned (leaves) AS (
      SELECT max(coalesce(max(gap), 0), ${lastLeafPage(sql`segid`)} - max(page)) FROM begun GROUP BY segid
    )
    SELECT 'merge', ${whole(count)} WHERE CASE WHEN
      (SELECT count(*) >= ${whole(fewest)} AND sum(${leafPagesOf(sql`segments.id`)}) <= ${whole(most.all)}
       FROM segments WHERE id IS NOT NULL)
      THEN (SELECT sum(leaves) <= ${whole(most.spanned)} FROM spanned) END`

/** Returns the statements of one merge; the structure record of FTS5 shows whether it did anything. */
const mergeWords = (most: Merged = MERGED): IndexMerge => ({
  state: sql`SELECT hex(block) AS state FROM entries_fts_data WHERE id = 10`,
  merge: merging(PAGES, 2, most),
  forget: { begin: merging(-PAGES, 1, FORGOTTEN), goOn: merging(PAGES, 2, FORGOTTEN) },
})

const whole = (number: number): SQL => sql.raw(String(number))

/**
 * Reads a page whose filter no index answers, in a large store of a database that runs one statement at a time (platform contract §6).
 * Entries are
 * read in the order of the page, in parts, with yields in between. Without concurrent writes the result equals that of one statement;
 * entries stored
 * meanwhile are not in the page, and deleted ones may be counted. Entries of the same second as the bounds of a part are skipped in the
 * index.
 *
 * For a scope with many entries the total is not exact: counting stops when the page is full and more entries follow.
 */

/** Maximum number of statements; the parts of a very expensive filter are small. */
const MOST_STATEMENTS = 500

/** Minimum entries of a part if the needed number can be estimated, and the factor by which more are read. */
const [MIN_PART, SPARE] = [1_000, 1.25]

/** The last entry that was read. */
interface Place {
  readonly second: number
  readonly id: number
}

/**
 * Returns the statement of one part: the number of matches, the IDs of some, and where the next part begins. Entries are read once; if
 * metadata may be large, their bytes are added first, to find the entry at which the budget ends.
 */
function partStatement(
  context: ReadContext,
  filter: Filter,
  after: Place | null,
  share: ReadBudget,
  window: Window,
): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const parts = conjuncts(filter)
  const inThread = parts.some((part) => part.op === 'thread')
  const from = dialect.plan.entriesBy(inThread ? 'entries_thread_created_idx' : 'entries_created_idx')
  const place = sql`(e.created_second, e.id)`
  const behind = after === null ? sql`` : sql` AND ${place} < (${after.second}, ${after.id})`
  const gone: Filter = { op: 'and', of: parts.filter((part) => part.op === 'thread' || part.op === 'created') }
  const next = (columns: SQL): SQL => sql`
      SELECT e.id${columns} FROM ${from}
      WHERE e.org = ${scope.org} AND e.listed = 1 AND ${compileFilter(gone, dialect, bindings.bind)}${behind}
      ORDER BY e.created_second DESC, e.id DESC`
  const ofSmall = mostOfSmall(share)
  const most = ofSmall ?? share.entries
  const isSmall = ofSmall === null ? sql`0` : share.bytes === null ? sql`1` : noneIsLarge(dialect, scope)
  const small = sql`small (yes) AS MATERIALIZED (SELECT ${isSmall})`
  const until = sql`until AS MATERIALIZED (
      SELECT id, place FROM (
        SELECT id, row_number() OVER following AS place, sum(bytes) OVER following AS up_to_here
        FROM (${next(sql`, e.created_second AS second, ${PARSED_BYTES} AS bytes`)}
          LIMIT CASE WHEN (SELECT yes FROM small) THEN 0 ELSE ${share.entries} END)
        WINDOW following AS (ORDER BY second DESC, id DESC ROWS UNBOUNDED PRECEDING)
      ) WHERE place = ${share.entries} OR up_to_here >= ${share.bytes ?? sql`NULL`}
      ORDER BY place LIMIT 1
    )`
  // SQLite evaluates both sides of an AND whose value is used, and visibility is computed again for each entry.
  const isHit = sql`CASE WHEN ${compileFilter(filter, dialect, bindings.bind)} THEN ${listed(dialect, scope, now)} ELSE 0 END`
  // One row, in the order of reading: aggregated rows are not read again.
  const walked = sql`walked AS MATERIALIZED (
      SELECT count(*) AS entries, count(*) FILTER (WHERE hit) AS matches, json_group_array(id) FILTER (WHERE hit) AS ids,
        json_group_array(id) ->> '$[#-1]' AS last
      FROM (${next(sql`, ${isHit} AS hit`)}
        LIMIT CASE WHEN (SELECT yes FROM small) THEN ${most} ELSE coalesce((SELECT place FROM until), -1) END)
    )`
  const last = sql`SELECT CASE WHEN NOT (SELECT yes FROM small) THEN (SELECT id FROM until) WHEN entries >= ${most} THEN last END AS id
      FROM walked`
  return withPrelude(
    bindings,
    [small, until, walked, sql`behind AS MATERIALIZED (${last})`],
    sql`SELECT walked.matches, walked.entries AS walked,
      (SELECT json_group_array(value) FROM (SELECT value FROM json_each(walked.ids) LIMIT ${window.limit} OFFSET ${window.offset})) AS ids,
      (SELECT e.created_second FROM behind CROSS JOIN entries e ON e.id = behind.id) AS second,
      (SELECT id FROM behind) AS id,
      ${after === null ? sql`(SELECT entries FROM (${visibleTotals(context)}) AS totals)` : sql`NULL`} AS visible
      FROM walked`,
  )
}

const toFound = (row: Row) => ({
  ids: json<number[]>(row, 'ids'),
  matches: num(row, 'matches'),
  walked: num(row, 'walked'),
  /** Number of entries that the scope sees; from the first part. */
  visible: numOrNull(row, 'visible'),
  next: row.id === null ? null : { second: num(row, 'second'), id: num(row, 'id') },
})
type PartFound = ReturnType<typeof toFound>

/** Reads the page of a filter in parts. */
const pageInParts: Bounded['page'] = async (read, context, filter, { limit, offset }) => {
  const share = readBudgetOf(context.dialect, filter)
  if (share === null) throw new Error('A page is read in parts where statements are bounded')
  let statements = 0
  const ids: number[] = []
  let total = 0
  let walked = 0
  let visible = 0
  /** Returns the number of entries that a full page and one more probably need; all, if all are counted. */
  const enough = (): number =>
    visible <= COUNTED || total === 0
      ? Number.POSITIVE_INFINITY
      : Math.max(MIN_PART, Math.ceil(((offset + limit + 1 - total) * walked * SPARE) / total))
  const parts = paginate<{ readonly after: Place | null }, PartFound>({
    start: { after: null },
    async step({ after }) {
      const window = { limit: limit - ids.length, offset: Math.max(0, offset - total) }
      const size = { ...share, entries: Math.min(share.entries, after === null ? COUNTED : enough()) }
      const statement = partStatement(context, filter, after, size, window)
      if (++statements > MOST_STATEMENTS) throw filterTooExpensive()
      await scheduler.yield()
      const found = await read(statement, onlyRow(toFound))
      return { found, next: found.next === null ? null : { after: found.next } }
    },
  })
  for await (const part of parts) {
    ids.push(...part.ids)
    total += part.matches
    walked += part.walked
    visible = part.visible ?? visible
    if (part.next !== null && visible > COUNTED && total > offset + limit)
      return { ids, total: Math.min(total, mostCounted({ limit, offset })), isExact: false }
  }
  return { ids, total, isExact: true }
}

/** Expressions of SQLite in D1. */

/** Returns a JSON path. Names contain only letters, digits, `_`, `-` (see tools/filters), so quoting them is enough. */
const jsonPath = (path: readonly string[]): SQL => sql.raw(`'$${path.map((name) => `."${name}"`).join('')}'`)

const extracted = (path: readonly string[]): SQL => sql`json_extract(e.metadata, ${jsonPath(path)})`
const typeOf = (path: readonly string[]): SQL => sql`json_type(e.metadata, ${jsonPath(path)})`

/** `lower()` of SQLite folds only A–Z, which is the definition of "ci". */
const folded = (value: SQL, fold: boolean): SQL => (fold ? sql`lower(${value})` : value)

const TYPES: Record<ScalarType, SQL> = {
  string: sql`('text')`,
  number: sql`('integer', 'real')`,
  boolean: sql`('true', 'false')`,
}

const members = (bind: Bind, values: readonly Scalar[]): SQL => sql`(SELECT value FROM json_each(${bind(values)}))`

/** A single value is compared directly: each lookup in a list counts two rows for each entry. */
const isOneOf = (bind: Bind, values: readonly Scalar[]): SQL =>
  values.length === 1 ? sql`= ${bind(values[0])}` : sql`IN ${members(bind, values)}`

/** Text with a single JSON encoding, so that metadata with this value contain it in quotes. */
const PLAIN = /^[ !#-[\]-~]+$/

/**
 * Compares with strings, case-sensitively, only if the metadata contain the text of one: searching for it is cheaper than parsing, and this
 * SQLite evaluates both sides of an AND whose value is used.
 */
function whereHeld(strings: readonly string[], bind: Bind, compared: SQL): SQL {
  const [value, ...others] = strings
  if (value === undefined || others.length > 0 || !PLAIN.test(value)) return compared
  return sql`CASE WHEN instr(e.metadata, ${bind(JSON.stringify(value))}) > 0 THEN ${compared} ELSE 0 END`
}

function equalsAny(path: readonly string[], values: readonly Scalar[], fold: boolean, bind: Bind): SQL {
  const strings = values.filter((value) => typeof value === 'string')
  const numbers = values.filter((value) => typeof value === 'number')
  const booleans = values.filter((value) => typeof value === 'boolean')
  const parts: SQL[] = []
  if (strings.length > 0) {
    // The folded comparison is needed even for a case-sensitive one: the indexes of metadata fields are on the folded value.
    const ci = sql`lower(${extracted(path)}) ${isOneOf(bind, strings.map(foldAscii))}`
    const exact = fold ? TRUE : sql`${extracted(path)} ${isOneOf(bind, strings)}`
    const compared = sql`(${typeOf(path)} = 'text' AND ${ci} AND ${exact})`
    parts.push(fold ? compared : whereHeld(strings, bind, compared))
  }
  if (numbers.length > 0)
    parts.push(sql`(${typeOf(path)} IN ${TYPES.number} AND ${extracted(path)} ${isOneOf(bind, numbers)})`)
  for (const value of booleans) parts.push(sql`${typeOf(path)} = ${sql.raw(value ? `'true'` : `'false'`)}`)
  return joinConditions('or', parts)
}

/** Strings are folded in their index. For values of several types no index finds all. */
function knownToIndex({ path, anyOf }: Extract<Predicate, { op: 'equals' }>, bind: Bind): SQL | null {
  if (anyOf.every((value) => typeof value === 'string'))
    return sql`lower(${extracted(path)}) ${isOneOf(bind, anyOf.map(foldAscii))}`
  if (anyOf.every((value) => typeof value === 'number')) return sql`${extracted(path)} ${isOneOf(bind, anyOf)}`
  return null
}

/** For one string: its index has the folded value and its type (`fieldIndexes`). */
function listedByIndex({ path, anyOf }: Extract<Predicate, { op: 'equals' }>, bind: Bind): SQL | null {
  const [value, ...others] = anyOf
  if (path.length !== 1 || others.length > 0 || typeof value !== 'string') return null
  return sql`lower(${extracted(path)}) = ${bind(foldAscii(value))} AND ${typeOf(path)} = 'text'`
}

/**
 * Returns conditions that an array contains all of the values; each reads it once: for strings, for numbers, for each boolean.
 */
function elementsOf(path: readonly string[], values: readonly Scalar[], fold: boolean, bind: Bind): SQL[] {
  const strings = values.filter((value) => typeof value === 'string').map((value) => (fold ? foldAscii(value) : value))
  const numbers = values.filter((value) => typeof value === 'number')
  const booleans = values.filter((value) => typeof value === 'boolean')
  // The result of `json_extract` is cached for the row; `json_each` would parse all of the metadata again for each array.
  const elements = sql`json_each(CASE WHEN ${typeOf(path)} = 'array' THEN ${extracted(path)} END) m`
  const holdsAll = (wanted: readonly Scalar[], types: SQL, value: SQL): SQL =>
    wanted.length === 1
      ? sql`EXISTS (SELECT 1 FROM ${elements} WHERE m.type IN ${types} AND ${value} = ${bind(wanted[0])})`
      : sql`(SELECT count(DISTINCT ${value}) FROM ${elements}
          WHERE m.type IN ${types} AND ${value} IN ${members(bind, wanted)}) = ${sql.raw(String(wanted.length))}`
  return [
    ...(strings.length === 0 ? [] : [holdsAll([...new Set(strings)], TYPES.string, folded(sql`m.value`, fold))]),
    ...(numbers.length === 0 ? [] : [holdsAll([...new Set(numbers)], TYPES.number, sql`m.value`)]),
    ...[...new Set(booleans)].map(
      (value) => sql`EXISTS (SELECT 1 FROM ${elements} WHERE m.type = ${sql.raw(value ? `'true'` : `'false'`)})`,
    ),
  ]
}

const COMPARISONS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

const leaves: PredicateCompilers = {
  thread: (predicate, bind) => sql`e.thread_id = ${bind(predicate.is)}`,
  source: (predicate, bind) => sql`e.source = ${bind(predicate.is)}`,
  contentType: (predicate) => (predicate.is === 'multimodal' ? sql`e.image_count > 0` : sql`e.image_count = 0`),
  tag: (predicate, bind) =>
    sql`EXISTS (SELECT 1 FROM entry_tags t WHERE t.org = e.org AND t.tag IN ${members(bind, predicate.anyOf)}
      AND t.layer = e.layer AND t.project = coalesce(e.project, '') AND t.entry_id = e.id)`,
  created: ({ from, to }, bind) =>
    joinConditions('and', [
      ...(from === null ? [] : [sql`e.created_second >= ${bind(from)}`]),
      ...(to === null ? [] : [sql`e.created_second <= ${bind(to)}`]),
    ]),
  by: ({ is }, bind) => {
    const name = bind(foldAscii(is))
    return sql`(coalesce(lower(e.agent) = ${name}, 0) OR coalesce(lower(e.owner) = ${name}, 0))`
  },
  kind: ({ anyOf }, bind) => sql`e.kind IN ${members(bind, anyOf)}`,
  layer: ({ anyOf }) => layerIs(anyOf),
  project: (part, bind) => isOf(part, bind),
  projectScope: (part, bind) => sql`(e.layer = 3 OR ${isOf(part, bind)})`,
  approved: () => approved('e'),
  capturedOf: ({ owner }, bind) => sql`(e.captured = 1 AND coalesce(e.owner, '') = ${bind(owner)})`,
  present: ({ path }) => sql`${typeOf(path)} <> 'null'`,
  null: ({ path }) => sql`${typeOf(path)} = 'null'`,
  type: ({ path, is }) => sql`${typeOf(path)} IN ${TYPES[is]}`,
  equals: ({ path, anyOf, fold }, bind) => equalsAny(path, anyOf, fold, bind),
  compare: ({ path, by, value }, bind) =>
    sql`(${typeOf(path)} IN ${typeof value === 'string' ? TYPES.string : TYPES.number}
      AND ${extracted(path)} ${COMPARISONS[by]} ${bind(value)})`,
  substring: ({ path, at, value, fold }, bind) => {
    const isText = sql`${typeOf(path)} = 'text'`
    if (value === '') return isText
    const text = folded(extracted(path), fold)
    // Folded here: a function of a bound value is evaluated again for each entry.
    const part = bind(fold ? foldAscii(value) : value)
    // LIKE and GLOB accept patterns of at most 50 bytes in D1.
    const found = {
      anywhere: () => sql`instr(${text}, ${part}) > 0`,
      start: () => sql`substr(${text}, 1, length(${part})) = ${part}`,
      end: () => sql`substr(${text}, -length(${part})) = ${part}`,
    }[at]()
    return sql`(${isText} AND ${found})`
  },
  elements: ({ path, allOf, fold }, bind) =>
    joinConditions('and', [sql`${typeOf(path)} = 'array'`, ...elementsOf(path, allOf, fold, bind)]),
}

/**
 * Passes all values of a filter as one JSON parameter: D1 allows 100 parameters in a statement, and both sides of a comparison are parsed
 * by the same JSON parser, so that equal texts are equal numbers.
 */
function createBindings(): Bindings {
  const values: unknown[] = []
  return {
    bind: (value) => {
      values.push(value)
      return sql.raw(`(SELECT json_extract(list, '$[${values.length - 1}]') FROM given)`)
    },
    prelude: () => (values.length === 0 ? null : sql`given (list) AS (SELECT ${jsonText(values)})`),
  }
}

/** Creates the dialect. @param merged maximum size of a search index that the schedule merges */
export function createD1Dialect(analyzer: Analyzer, merged?: Merged): SqlDialect {
  const dialect: SqlDialect = {
    analyzer,
    plan: SQLITE_PLAN,
    predicates: leaves,
    bindings: createBindings,
    falseWhenNull: (condition) => sql`ifnull(${condition}, ${FALSE})`,
    ...entryIds,
    lastWritten: (org, { before, upToVersion }) =>
      sql`(SELECT w.entry_id
      FROM (SELECT c.entry_id, c.version FROM ${changesOf(org)} ${NEWEST_FIRST} LIMIT 1 OFFSET ${before}) w
      WHERE w.version <= ${upToVersion})`,
    likeTogether: false,
    countsRows: true,
    bounded: { ...FILTERED_AT_ONCE, page: pageInParts },
    knownToIndex,
    listedByIndex,
    packsResults: false,
    packsRows: true,
    inList: (json) => sql`IN (SELECT value FROM json_each(${json}))`,
    jsonRows: (json) => sql`json_each(${json})`,
    hasAnyKey: (json, keys) =>
      sql`EXISTS (SELECT 1 FROM json_each(${json}) m WHERE m.key IN (SELECT value FROM json_each(${JSON.stringify(keys)})))`,
    jsonList: (rows) => sql`(SELECT json_group_array(value) FROM (${rows}))`,
    joinedStrings: (one, other) => sql`(SELECT json_group_array(value) FROM (
      SELECT value FROM json_each(${one}) UNION SELECT value FROM json_each(${other}) ORDER BY value))`,
    jsonNumbers: (json) => sql`json_each(${json})`,
    jsonTable: (json, columns) => {
      const members = Object.keys(columns).map((name, i) => sql.raw(`value ->> ${i} AS ${name}`))
      return sql`(SELECT ${sql.join(members, sql`, `)} FROM json_each(${json}))`
    },
    jsonArrays: (values) => sql`json_group_array(json_array(${sql.join([...values], sql`, `)}))`,
    jsonRow: (values) => sql`json_array(${sql.join([...values], sql`, `)})`,
    mergePatch: (target, patch) => sql`json_patch(${target}, ${patch})`,
    asWritten,
    contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
    position: (text, part) => sql`instr(${text}, ${part})`,
    slice: (text, _, from, length) => sql`substr(${text}, ${from} + 1, ${length})`,
    preview: (org, hash) => sql`SELECT b.text FROM text_previews b WHERE b.org = ${org} AND b.hash = ${hash}`,
    byteLength: (text) => sql`length(CAST(${text} AS BLOB))`,
    indexEntry: (entry, row) => indexEntry(analyzer, entry, row),
    indexEntries: (entries) => indexEntries(analyzer, dialect, entries),
    unindexEntry: (id) => sql`DELETE FROM entries_fts WHERE rowid = ${id}`,
    indexForm: '.1',
    mergeIndex: mergeWords(merged),
    numberAt: (name) => sql`CASE WHEN ${typeOf([name])} = 'integer' THEN ${extracted([name])} END`,
    textAt: (path) => sql`CASE WHEN ${typeOf(path)} = 'text' THEN ${extracted(path)} END`,
    similarity: null,
    code: D1_CODE,
  }
  return dialect
}
