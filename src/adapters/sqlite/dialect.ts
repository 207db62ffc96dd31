import { type SQL, sql } from 'drizzle-orm'
import { jsonText } from '../../domain/json/write'
import type { Analyzer } from '../../domain/search/analysis'
import type { Predicate, Scalar, ScalarType } from '../../domain/search/filter'
import { foldAscii } from '../../domain/text'
import { FALSE, isOf, joinConditions, layerIs, TRUE } from '../sql/core/compile-filter'
import type { Bind, Bindings, PredicateCompilers, SqlDialect } from '../sql/core/dialect'
import { approved } from '../sql/core/visibility'
import { SQLITE_PLAN } from '../sql/plan/sqlite'
import { changesOf, NEWEST_FIRST } from '../sql/tables/changes/change-rows'
import { D1_CODE } from './code-spelling'
import { FILTERED_AT_ONCE } from './cost'
import { entryIds } from './entry-ids'
import { indexEntries, indexEntry } from './full-text-index'
import { asWritten } from './json-equality'
import { type Merged, mergeWords } from './merging'
import { pageInParts } from './page-in-parts'

/** What SQLite in D1 spells in its own way. */

/** A JSON path; names are letters, digits, `_`, `-` only (see tools/filters), so quoting them is enough. */
const jsonPath = (path: readonly string[]): SQL => sql.raw(`'$${path.map((name) => `."${name}"`).join('')}'`)

const extracted = (path: readonly string[]): SQL => sql`json_extract(e.metadata, ${jsonPath(path)})`
const typeOf = (path: readonly string[]): SQL => sql`json_type(e.metadata, ${jsonPath(path)})`

/** `lower()` of SQLite folds A–Z and nothing else, which is the meaning of "ci". */
const folded = (value: SQL, fold: boolean): SQL => (fold ? sql`lower(${value})` : value)

const TYPES: Record<ScalarType, SQL> = {
  string: sql`('text')`,
  number: sql`('integer', 'real')`,
  boolean: sql`('true', 'false')`,
}

const members = (bind: Bind, values: readonly Scalar[]): SQL => sql`(SELECT value FROM json_each(${bind(values)}))`

/** By itself where it is one: each look into a list counts two rows for each entry. */
const isOneOf = (bind: Bind, values: readonly Scalar[]): SQL =>
  values.length === 1 ? sql`= ${bind(values[0])}` : sql`IN ${members(bind, values)}`

/** Text that JSON has one spelling of, so that metadata which hold it as a value hold it in quotes. */
const PLAIN = /^[ !#-[\]-~]+$/

/**
 * A comparison with strings where case counts, of metadata that hold the text of a string at all: a look for it costs a fifth of parsing
 * them, and this SQLite evaluates both sides of an AND whose value is asked for.
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
    // The folded comparison stands even where case counts: the indexes of metadata fields are on the folded value.
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

/** Strings are folded in their index; of values of several types none leads to all. */
function knownToIndex({ path, anyOf }: Extract<Predicate, { op: 'equals' }>, bind: Bind): SQL | null {
  if (anyOf.every((value) => typeof value === 'string'))
    return sql`lower(${extracted(path)}) ${isOneOf(bind, anyOf.map(foldAscii))}`
  if (anyOf.every((value) => typeof value === 'number')) return sql`${extracted(path)} ${isOneOf(bind, anyOf)}`
  return null
}

/** Of one string: its folded value and type stand in the index (`fieldIndexes`). */
function listedByIndex({ path, anyOf }: Extract<Predicate, { op: 'equals' }>, bind: Bind): SQL | null {
  const [value, ...others] = anyOf
  if (path.length !== 1 || others.length > 0 || typeof value !== 'string') return null
  return sql`lower(${extracted(path)}) = ${bind(foldAscii(value))} AND ${typeOf(path)} = 'text'`
}

/** Conditions that an array holds all of the values, each of which walks it once: for strings, for numbers, for each boolean. */
function elementsOf(path: readonly string[], values: readonly Scalar[], fold: boolean, bind: Bind): SQL[] {
  const strings = values.filter((value) => typeof value === 'string').map((value) => (fold ? foldAscii(value) : value))
  const numbers = values.filter((value) => typeof value === 'number')
  const booleans = values.filter((value) => typeof value === 'boolean')
  // What `json_extract` has parsed is kept for the row; `json_each` would parse all of the metadata anew for each array.
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
    // Folded here: a function of a value is asked anew for each entry.
    const part = bind(fold ? foldAscii(value) : value)
    // LIKE and GLOB take patterns of 50 bytes at most in D1.
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
 * All values of a filter travel as one JSON parameter: D1 takes 100 parameters a statement, and numbers that come out
 * of JSON on both sides are read by the same parser, so that equal texts are equal numbers.
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

/** @param merged how large an index of words is merged by the schedule */
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
    packsRows: true,
    among: (json) => sql`IN (SELECT value FROM json_each(${json}))`,
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
    beginning: (org, hash) => sql`SELECT b.text FROM text_previews b WHERE b.org = ${org} AND b.hash = ${hash}`,
    byteLength: (text) => sql`length(CAST(${text} AS BLOB))`,
    indexEntry: (entry, row) => indexEntry(analyzer, entry, row),
    indexEntries: (entries) => indexEntries(analyzer, dialect, entries),
    unindexEntry: (id) => sql`DELETE FROM entries_fts WHERE rowid = ${id}`,
    indexForm: '.1',
    mergeIndex: mergeWords(merged),
    numberAt: (name) => sql`CASE WHEN ${typeOf([name])} = 'integer' THEN ${extracted([name])} END`,
    textAt: (path) => sql`CASE WHEN ${typeOf(path)} = 'text' THEN ${extracted(path)} END`,
    nearness: null,
    code: D1_CODE,
  }
  return dialect
}
