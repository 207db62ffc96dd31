// The SQL dialect of PostgreSQL. Filters compare `metadata_json`, the metadata as jsonb.

import { type SQL, sql } from 'drizzle-orm'
import { jsonText } from '../../domain/json/write'
import type { Analyzer } from '../../domain/search/analysis'
import type { Predicate, Scalar } from '../../domain/search/filter'
import { foldAscii } from '../../domain/text'
import { FALSE, isOf, joinConditions, layerIs } from '../sql/core/compile-filter'
import type { Bind, Bindings, CodeSpelling, PredicateCompilers, SqlDialect } from '../sql/core/dialect'
import { approved } from '../sql/core/visibility'
import type { Plan } from '../sql/plan/planner-hints'
import { changesOf, NEWEST_FIRST } from '../sql/tables/changes/change-rows'
import { codeNumber, codeTerm } from '../sql/tables/search/scope-terms'
import { indexEntries, indexEntry } from './full-text-index'
import { foldedStart, STRING_START } from './indexed-fields.mjs'
import { POSTGRES_SIMILARITY } from './vector-index'

const POSTGRES_PLAN: Plan = {
  follow: (table, alias, on) =>
    sql`CROSS JOIN LATERAL (SELECT * FROM ${sql.raw(`${table} ${alias}`)} WHERE ${on} OFFSET 0) AS ${sql.raw(alias)}`,
  followLeft: (table, alias, on) =>
    sql`LEFT JOIN LATERAL (SELECT * FROM ${sql.raw(`${table} ${alias}`)} WHERE ${on} OFFSET 0) AS ${sql.raw(alias)} ON true`,
  oneOf: (query) => sql`= ANY (ARRAY(${query}))`,
  // Each query has its own LIMIT, which its index serves; the planner need not merge them.
  firstOf: (queries, alias, ending) => {
    const ended = queries.map((query, i) => sql`SELECT * FROM (${query} ${ending}) AS ${sql.raw(`${alias}_${i}`)}`)
    return sql`SELECT * FROM (${sql.join(ended, sql` UNION ALL `)}) AS ${sql.raw(alias)} ${ending}`
  },
  // One query of all values, since the planner takes as long for each part of a union as for a separate query.
  forEach: (values, alias, queries, ending) => {
    const [each, rows] = [sql.raw(`each_${alias}`), sql.raw(alias)]
    const from = sql`jsonb_array_elements_text(${JSON.stringify(values)}::jsonb) AS ${each} (value)`
    const firstOfEach = queries.map((query) => {
      const first = sql`(${query(sql`${each}.value`)} ${ending})`
      return sql`SELECT ${rows}.* FROM ${from} CROSS JOIN LATERAL ${first} AS ${rows}`
    })
    return sql.join(firstOfEach, sql` UNION ALL `)
  },
  // With an equality on the first column, the index would be read from its start.
  beyond: ([known, value], column, number) =>
    sql`(${known}, ${column}) > (${value}, ${number}) AND ${known} <= ${value}`,
  exists: (query) => sql`EXISTS (${query} OFFSET 0)`,
  rangeOf: (column, value) => sql`${column} BETWEEN ${value} AND ${value}`,
  inOrder: (column, wanted) => sql`${column}, ${wanted}`,
  asListed: (place) => sql`ORDER BY ${place}`,
  filterOnly: (condition) => sql`(${condition}) IS TRUE`,
  unordered: (expression) => expression,
  illustratedEntries: sql`entries e`,
  entriesOfProject: sql`entries e`,
  entriesOfLayer: sql`entries e`,
  tableBy: (table) => sql.raw(table),
  entriesBy: (_, led) => (led ? sql`(SELECT * FROM entries e WHERE ${led} OFFSET 0) AS e` : sql`entries e`),
}

/** Trigrams and words of code are arrays with a GIN index; each element is prefixed with its project. */
const GRAMS = 65_536

const numbers = (org: string, project: string, grams: readonly number[]): string => {
  const head = codeNumber(org, project) * GRAMS
  return `{${grams.map((gram) => head + gram).join(',')}}`
}

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

const texts = (org: string, project: string, words: readonly string[]): string => {
  const head = codeTerm(org, project)
  return `{${words.map((word) => quoted(head + word)).join(',')}}`
}

const POSTGRES_CODE: CodeSpelling = {
  position: (text, part) => sql`strpos(${text}, ${part})`,
  lower: (text) => sql`lower(${text} COLLATE "C")`,

  samePath: (column, path) => sql`md5(${column}) = md5(${path}) AND ${column} = ${path}`,

  insertGrams({ org, project, root }, files) {
    const rows = JSON.stringify(files.map(([path, grams]) => [path, numbers(org, project, grams)]))
    return sql`
      INSERT INTO code_grams (file_id, grams)
      SELECT f.id, (made.value ->> 1)::bigint[]
      FROM jsonb_array_elements(${rows}::jsonb) AS made (value)
      CROSS JOIN LATERAL (
        SELECT f.id FROM code_files f
        WHERE f.org = ${org} AND f.project = ${project} AND f.root = ${root}
          AND md5(f.path) = md5(made.value ->> 0) AND f.path = made.value ->> 0
        OFFSET 0
      ) AS f`
  },

  insertWords({ org, project, root }, chunks) {
    const rows = JSON.stringify(chunks.map(([path, n, words]) => [path, n, texts(org, project, words)]))
    return sql`
      INSERT INTO code_words (chunk_id, words)
      SELECT c.id, (made.value ->> 2)::text[]
      FROM jsonb_array_elements(${rows}::jsonb) AS made (value)
      CROSS JOIN LATERAL (
        SELECT f.id FROM code_files f
        WHERE f.org = ${org} AND f.project = ${project} AND f.root = ${root}
          AND md5(f.path) = md5(made.value ->> 0) AND f.path = made.value ->> 0
        OFFSET 0
      ) AS f
      CROSS JOIN LATERAL (
        SELECT c.id FROM code_chunks c WHERE c.file_id = f.id AND c.n = (made.value ->> 1)::integer OFFSET 0
      ) AS c`
  },

  filesWith: ({ org, project }, grams) =>
    sql`SELECT file_id AS id FROM code_grams WHERE grams @> ${numbers(org, project, grams)}::bigint[]`,

  chunksWith({ org, project }, units) {
    const queries = JSON.stringify(units.map((terms) => texts(org, project, terms)))
    return sql`
      SELECT asked.place - 1 AS unit, w.chunk_id AS id
      FROM jsonb_array_elements_text(${queries}::jsonb) WITH ORDINALITY AS asked (terms, place)
      CROSS JOIN LATERAL (SELECT w.chunk_id FROM code_words w WHERE w.words @> asked.terms::text[] OFFSET 0) AS w`
  },
}

/**
 * Returns a name as a literal. Names contain only letters, digits, `_`, `.`, `-` (see tools/filters); quotes are doubled nevertheless.
 */
const literal = (name: string): SQL => sql.raw(`'${name.replaceAll("'", "''")}'::text`)

/** Returns the value of a member by name; NULL for an array, whatever the name looks like. */
const valueAt = (path: readonly string[]): SQL =>
  sql.join([sql`e.metadata_json`, ...path.map((name) => sql` -> ${literal(name)}`)])

const typeIs = (path: readonly string[], type: string): SQL =>
  sql`jsonb_typeof(${valueAt(path)}) = ${sql.raw(`'${type}'`)}`

/** Returns a string as text; compares and folds by bytes, so that only A–Z fold. */
const textAt = (path: readonly string[]): SQL => {
  const members = path.slice(0, -1).map((name) => sql` -> ${literal(name)}`)
  return sql.join([sql`(e.metadata_json`, ...members, sql` ->> ${literal(path.at(-1) as string)}) COLLATE "C"`])
}

const foldedText = (path: readonly string[], fold: boolean): SQL =>
  fold ? sql`lower(${textAt(path)})` : sql`(${textAt(path)})`

const text = (bind: Bind, value: string, fold = false): SQL => sql`${bind(fold ? foldAscii(value) : value)}::text`
/** Both sides are JSON, and jsonb compares numbers exactly. */
const json = (bind: Bind, value: unknown): SQL => sql`${bind(jsonText(value))}::jsonb`

const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)

/** Returns a condition that a field starts like one of the strings, case-folded: the part that its index stores. */
const startsAs = (name: string, strings: readonly string[], bind: Bind): SQL => {
  const starts = strings.map((value) => text(bind, [...foldAscii(value)].slice(0, STRING_START).join('')))
  return sql`${sql.raw(foldedStart(name, 'e.'))} IN (${list(starts)})`
}

function knownToIndex({ path, anyOf }: Extract<Predicate, { op: 'equals' }>, bind: Bind): SQL | null {
  const strings = anyOf.filter((value) => typeof value === 'string')
  const isAll = strings.length > 0 && strings.length === anyOf.length
  return path.length === 1 && isAll ? startsAs(path[0] as string, strings, bind) : null
}

function equalsAny(path: readonly string[], values: readonly Scalar[], fold: boolean, bind: Bind): SQL {
  const strings = values.filter((value) => typeof value === 'string')
  const others = values.filter((value) => typeof value !== 'string')
  const parts: SQL[] = []
  if (strings.length > 0) {
    // If there is an index of the field, it is on the first characters of the folded string.
    const start = path.length === 1 ? sql`${startsAs(path[0] as string, strings, bind)} AND ` : sql``
    const same = sql`${foldedText(path, fold)} IN (${list(strings.map((value) => text(bind, value, fold)))})`
    parts.push(sql`(${typeIs(path, 'string')} AND ${start}${same})`)
  }
  for (const type of ['number', 'boolean'] as const) {
    const same = others.filter((value) => typeof value === type)
    if (same.length > 0)
      parts.push(sql`(${typeIs(path, type)} AND ${valueAt(path)} IN (${list(same.map((value) => json(bind, value)))}))`)
  }
  return joinConditions('or', parts)
}

function elementOf(path: readonly string[], value: Scalar, fold: boolean, bind: Bind): SQL {
  const isArray = typeIs(path, 'array')
  if (typeof value !== 'string' || !fold) return sql`(${isArray} AND ${valueAt(path)} @> ${json(bind, [value])})`
  // Not every planner checks the type first, hence the empty array for other types.
  const elements = sql`jsonb_array_elements(CASE WHEN ${isArray} THEN ${valueAt(path)} ELSE '[]'::jsonb END)`
  return sql`EXISTS (SELECT 1
    FROM ${elements} AS m (value)
    WHERE jsonb_typeof(m.value) = 'string' AND lower((m.value #>> '{}') COLLATE "C") = ${text(bind, value, true)})`
}

const COMPARISONS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

const leaves: PredicateCompilers = {
  thread: (predicate, bind) => sql`e.thread_id = ${bind(predicate.is)}`,
  source: (predicate, bind) => sql`e.source = ${bind(predicate.is)}`,
  contentType: (predicate) => (predicate.is === 'multimodal' ? sql`e.image_count > 0` : sql`e.image_count = 0`),
  // Evaluated for each entry: OFFSET keeps the planner from turning it into a join that starts with all rows of the tag, and IS TRUE from
  // using the primary key, which begins with the tag.
  tag: (predicate, bind) =>
    predicate.anyOf.length === 0
      ? FALSE
      : sql`EXISTS (SELECT 1 FROM entry_tags t
        WHERE t.org = e.org AND t.entry_id = e.id AND (t.tag IN (${list(predicate.anyOf.map((tag) => bind(tag)))})) IS TRUE OFFSET 0)`,
  created: ({ from, to }, bind) =>
    joinConditions('and', [
      ...(from === null ? [] : [sql`e.created_second >= ${bind(from)}`]),
      ...(to === null ? [] : [sql`e.created_second <= ${bind(to)}`]),
    ]),
  by: ({ is }, bind) => {
    const name = text(bind, is, true)
    return sql`(coalesce(lower(e.agent COLLATE "C") = ${name}, FALSE) OR coalesce(lower(e.owner COLLATE "C") = ${name}, FALSE))`
  },
  kind: ({ anyOf }, bind) => (anyOf.length === 0 ? FALSE : sql`e.kind IN (${list(anyOf.map((kind) => bind(kind)))})`),
  layer: ({ anyOf }) => layerIs(anyOf),
  project: (part, bind) => isOf(part, bind),
  projectScope: (part, bind) => sql`(e.layer = 3 OR ${isOf(part, bind)})`,
  approved: () => approved('e'),
  capturedOf: ({ owner }, bind) => sql`(e.captured = 1 AND coalesce(e.owner, '') = ${bind(owner)})`,
  present: ({ path }) => sql`jsonb_typeof(${valueAt(path)}) <> 'null'`,
  null: ({ path }) => typeIs(path, 'null'),
  type: ({ path, is }) => typeIs(path, is),
  equals: ({ path, anyOf, fold }, bind) => equalsAny(path, anyOf, fold, bind),
  compare: ({ path, by, value }, bind) =>
    typeof value === 'string'
      ? sql`(${typeIs(path, 'string')} AND ${textAt(path)} ${COMPARISONS[by]} ${text(bind, value)})`
      : sql`(${typeIs(path, 'number')} AND ${valueAt(path)} ${COMPARISONS[by]} ${json(bind, value)})`,
  substring: ({ path, at, value, fold }, bind) => {
    const isText = typeIs(path, 'string')
    if (value === '') return isText
    const whole = foldedText(path, fold)
    const part = text(bind, value, fold)
    const found = {
      anywhere: () => sql`strpos(${whole}, ${part}) > 0`,
      start: () => sql`starts_with(${whole}, ${part})`,
      end: () => sql`right(${whole}, ${[...value].length}) = ${part}`,
    }[at]()
    return sql`(${isText} AND ${found})`
  },
  elements: ({ path, allOf, fold }, bind) =>
    joinConditions(
      'and',
      allOf.map((value) => elementOf(path, value, fold, bind)),
    ),
}

const createBindings = (): Bindings => ({ bind: (value) => sql`${value}`, prelude: () => null })

const TYPES = { text: 'text', integer: 'bigint' } as const

export function createPostgresDialect(analyzer: Analyzer): SqlDialect {
  const dialect: SqlDialect = {
    analyzer,
    plan: POSTGRES_PLAN,
    predicates: leaves,
    bindings: createBindings,
    falseWhenNull: (condition) => sql`coalesce(${condition}, false)`,
    entryIds: {
      raise: (to) => [
        sql`SELECT setval('entries_id_seq', greatest(${to}::bigint, CASE WHEN is_called THEN last_value ELSE 1 END)) FROM entries_id_seq
          WHERE ${to}::bigint > 0`,
      ],
      fresh: () => sql`nextval('entries_id_seq')`,
      pass: () => [],
    },
    entryId: (known) => sql`coalesce(${known}, nextval('entries_id_seq'))`,
    lastWritten: (org, { before, upToVersion }) =>
      sql`(SELECT w.entry_id
      FROM (SELECT c.entry_id, c.version FROM ${changesOf(org)} ${NEWEST_FIRST} LIMIT 1 OFFSET ${before}) w
      WHERE w.version <= ${upToVersion})`,
    likeTogether: true,
    countsRows: false,
    bounded: null,
    knownToIndex,
    listedByIndex: () => null,
    packsResults: true,
    packsRows: false,
    inList: (json) => sql`= ANY (ARRAY(SELECT jsonb_array_elements_text(${json}::jsonb)))`,
    jsonRows: (rows) => sql`jsonb_array_elements_text(${rows}::jsonb)`,
    jsonList: (rows) => sql`(SELECT coalesce(jsonb_agg(value)::text, '[]') FROM (${rows}) AS listed)`,
    joinedStrings: (one, other) => sql`(SELECT compact_json(jsonb_agg(value ORDER BY value COLLATE "C")) FROM (
      SELECT value FROM jsonb_array_elements_text(${one}::jsonb)
      UNION SELECT value FROM jsonb_array_elements_text(${other}::jsonb)) AS joined)`,
    hasAnyKey: (json, keys) =>
      sql`coalesce(jsonb_exists_any((${json})::jsonb, ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(keys)}::jsonb))), false)`,
    jsonNumbers: (rows) => sql`json_numbers(${rows}::jsonb)`,
    jsonTable: (rows, columns) => {
      const members = Object.entries(columns).map(([name, type], i) =>
        sql.raw(`(value ->> ${i})::${TYPES[type]} AS ${name}`),
      )
      return sql`(SELECT ${list(members)} FROM jsonb_array_elements(${rows}::jsonb) AS given (value))`
    },
    jsonArrays: (values) => sql`coalesce(json_agg(json_build_array(${list([...values])}))::text, '[]')`,
    jsonRow: (values) => sql`json_build_array(${sql.join([...values], sql`, `)})::text`,
    // Equal metadata stay as written: jsonb reorders keys, and a version would report a change.
    mergePatch: (target, patch) => sql`(SELECT CASE WHEN made.merged = (${target})::jsonb THEN ${target}
      ELSE compact_json(made.merged) END FROM (SELECT merge_patch((${target})::jsonb, ${patch}::jsonb) AS merged) AS made)`,
    asWritten: (_, given) => sql`(SELECT CASE WHEN both_texts.was <> both_texts.given
        AND octet_length(both_texts.was) = octet_length(both_texts.given) AND both_texts.was::jsonb = both_texts.given::jsonb
      THEN both_texts.was ELSE both_texts.given END
      FROM (SELECT entries.metadata AS was, ${given(sql`entries.metadata`)}::text AS given) AS both_texts)`,
    contains: (value, part) => sql`strpos(${value}, ${part}) > 0`,
    position: (value, part) => sql`strpos(${value}, ${part})`,
    // If each character is one byte, cut bytes: finding a character counts all before it, which takes as long as decompressing the text.
    slice: (value, chars, from, length) =>
      sql`CASE WHEN octet_length(${value}) = ${chars}
      THEN convert_from(substr(convert_to(${value}, 'UTF8'), (${from})::integer + 1, (${length})::integer), 'UTF8')
      ELSE substr(${value}, (${from})::integer + 1, (${length})::integer) END`,
    preview: null,
    byteLength: (value) => sql`octet_length(${value})`,
    indexEntry: (entry, row) => indexEntry(analyzer, entry, row),
    indexEntries: (entries) => indexEntries(analyzer, dialect, entries),
    indexForm: '',
    mergeIndex: null,
    unindexEntry: (id) => sql`DELETE FROM entries_fts WHERE entry_id = ${id}`,
    numberAt: (name) =>
      sql`CASE WHEN ${typeIs([name], 'number')} THEN trunc((${valueAt([name])})::numeric)::bigint END`,
    textAt: (path) => sql`CASE WHEN ${typeIs(path, 'string')} THEN ${textAt(path)} END`,
    similarity: POSTGRES_SIMILARITY,
    code: POSTGRES_CODE,
  }
  return dialect
}
