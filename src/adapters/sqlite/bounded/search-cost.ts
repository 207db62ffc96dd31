import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../domain/search/filter'
import { weightOf } from '../../../domain/search/filter-weight'
import type { Expression, Unit } from '../../../domain/search/query-unit'
import type { ScoredTerm } from '../../../domain/search/score'
import type { AnySearch } from '../../sql/tables/search/candidates'

/**
 * What may a search make FTS5 read? It goes through where a word stands in every text, once for each time that a statement asks for the
 * word, and nobody else is served meanwhile (platform contract §6).
 */

/** What a statement may go through; in bytes of postings where nothing else is said. */
export const SHARES = {
  /**
   * All that a search asks for, 300 ms of work at most of the 500 that a statement may take (platform contract §6); a search of more is
   * done in parts, which takes three to ten times as long (docs/decisions/006-work-in-parts.md).
   */
  once: 192_000_000,
  /** The words of a part, 30 to 150 ms of work. */
  part: 32_000_000,
  /** Entries of a part, whatever their size. */
  entries: 8_000,
  /** A phrase, which cannot be asked for in parts. */
  phrase: 64_000_000,
  /** Words by their beginning, whose postings FTS5 merges before it begins, so that each takes some times as long. */
  beginning: 72_000_000,
} as const
export type Shares = { readonly [Name in keyof typeof SHARES]: number }

const MERGING = Math.ceil(SHARES.once / SHARES.beginning)

/** A word that statements ask for. */
export interface AskedWord {
  readonly word: string
  readonly prefix: boolean
  /** How many times. */
  readonly times: number
}

export const wordsOfUnit = ({ terms, prefix }: Unit): Omit<AskedWord, 'times'>[] =>
  terms.map((word, i) => ({ word, prefix: prefix && i === terms.length - 1 }))

export const wordsOfTerm = ({ term, by }: ScoredTerm): Omit<AskedWord, 'times'>[] => [
  { word: term, prefix: by === 'beginning' },
]

export const unitsIn = (expression: Expression): Unit[] =>
  expression.op === 'unit'
    ? [expression.unit]
    : expression.op === 'not'
      ? unitsIn(expression.of)
      : expression.of.flatMap(unitsIn)

/** The same words, each once. */
export function addedUp(words: readonly AskedWord[]): AskedWord[] {
  const times = new Map<string, AskedWord>()
  for (const asked of words) {
    const key = `${asked.prefix ? '*' : '='}${asked.word}`
    times.set(key, { ...asked, times: asked.times + (times.get(key)?.times ?? 0) })
  }
  return [...times.values()]
}

/**
 * The words that the statements of a search ask of the index.
 *
 * @param counting how many statements count the terms
 * @param isAnyOf whether what they lead to is all that is asked for: then each is as good as asked for once more, to be grouped
 */
export function askedBy({ query, terms, units, rare }: AnySearch, counting: number, isAnyOf: boolean): AskedWord[] {
  const often = (words: readonly Omit<AskedWord, 'times'>[], times: number) => words.map((word) => ({ ...word, times }))
  const expressions = [
    query.expression as Expression,
    ...(query.preferred === null || isAnyOf ? [] : [query.preferred]),
  ]
  const alone = units === undefined && rare === undefined && query.expression?.op === 'unit'
  const looked = rare !== undefined ? [] : units ? query.units : expressions.flatMap(unitsIn)
  return addedUp([
    ...often(terms.flatMap(wordsOfTerm), counting + (alone ? 0 : 1)),
    ...often(looked.flatMap(wordsOfUnit), 1),
    // Words next to each other are asked for by themselves and, where entries hold all units, together with the others.
    ...often(units ? looked.filter((unit) => unit.terms.length > 1).flatMap(wordsOfUnit) : [], 1),
  ])
}

/** FTS5 stores terms behind this letter. */
const MAIN_INDEX = '0'
/** Bytes of a leaf of the index. */
const LEAF = 4050
/** A text of so many bytes has no more bytes of postings: a word in two bytes, in two columns. */
const DENSEST = 1

/** Ids of the leaves of a segment lie together. */
const leafIds = (segment: SQL): SQL => sql`BETWEEN ${segment} << 37 AND (${segment} << 37) + 2147483647`
/** Number of the last leaf of a segment. */
export const lastLeaf = (segment: SQL): SQL =>
  sql`(SELECT max(d.id) & 2147483647 FROM entries_fts_data d WHERE d.id ${leafIds(segment)})`

/** How many leaves a segment has; the first ones of a segment that is just merged are gone. */
export const leavesOf = (segment: SQL): SQL =>
  sql`(${lastLeaf(segment)} - (SELECT min(d.id) & 2147483647 FROM entries_fts_data d WHERE d.id ${leafIds(segment)}) + 1)`

/**
 * Bytes of postings of a word in the whole index, as far as its leaves tell, which is some thousands for each of its segments: FTS5 notes
 * with which term its leaves begin (`_idx`), so that nothing is read of the postings themselves.
 */
const postingsOf = (word: SQL, prefix: SQL): SQL => {
  const from = sql`CAST(${sql.raw(`'${MAIN_INDEX}'`)} || ${word} AS BLOB)`
  const to = sql`CASE WHEN ${prefix} THEN CAST(${from} || x'ff' AS BLOB) ELSE ${from} END`
  return sql`(
    SELECT coalesce(sum(max(
        coalesce(
          (SELECT i.pgno / 2 FROM entries_fts_idx i WHERE i.segid = segments.id AND i.term > ${to} ORDER BY i.term LIMIT 1),
          ${lastLeaf(sql`segments.id`)}
        ) - coalesce(
          (SELECT i.pgno / 2 FROM entries_fts_idx i WHERE i.segid = segments.id AND i.term <= ${from} ORDER BY i.term DESC LIMIT 1), 0
        ), 0)), 0) * ${sql.raw(String(LEAF))}
    FROM segments
  )`
}

/** Their numbers, and one row more without one. */
export const SEGMENTS = sql`segments (id) AS (
  SELECT min(segid) FROM entries_fts_idx
  UNION ALL SELECT (SELECT min(segid) FROM entries_fts_idx WHERE segid > segments.id) FROM segments WHERE segments.id IS NOT NULL
)`

/** A query of the postings of words, as `bytes`, in their order. */
export const postingsStatement = (words: readonly Omit<AskedWord, 'times'>[]): SQL => {
  const given = JSON.stringify(words.map(({ word, prefix }) => [word, prefix ? 1 : 0]))
  return sql`WITH RECURSIVE ${SEGMENTS}
    SELECT ${postingsOf(sql`(asked.value ->> 0)`, sql`(asked.value ->> 1)`)} AS bytes
    FROM json_each(${given}) asked ORDER BY asked.key`
}

/** Words that begin with a word stand in the index behind this, and before that. */
const AFTER = sql`char(1)`
const BEFORE = sql`char(1114111)`

/**
 * The next longer beginnings of words, each by one character, as `beginning`; fewer than asked for at the end.
 *
 * @param after the last one that is known; the beginning itself at the start
 */
export const longerStatement = (beginning: string, after: string, most: number): SQL => {
  const first = after === beginning ? AFTER : BEFORE
  const own = sql`substr(step.term, 1, length(${beginning})) = ${beginning}`
  const longer = sql`substr(step.term, 1, length(${beginning}) + 1)`
  return sql`WITH RECURSIVE step (term, place) AS (
      SELECT (SELECT term FROM entries_words WHERE term >= ${after} || ${first} LIMIT 1), 1
      UNION ALL
      SELECT (SELECT w.term FROM entries_words w WHERE w.term >= ${longer} || ${BEFORE} LIMIT 1), step.place + 1
      FROM step WHERE step.place < ${sql.raw(String(most))} AND ${own}
    )
    SELECT ${longer} AS beginning FROM step WHERE ${own}`
}

/** What each entry with a word costs beside its postings, in bytes of these: it is looked up, weighed and put in order. */
const ENTRY = 128
/** What a filter of weight 1 costs for an entry, and for a byte of its metadata, in bytes of postings. */
const FILTERED = 400
const METADATA = 0.8
/** Bytes of postings that an entry with a word has at least: its number, and where the word stands in two columns. */
const LEAST = 6

/**
 * `fits`: a table of one row that says whether what is asked of the index stays within a share.
 *
 * @param filter what is asked of each entry with a word
 * @param held a query of how many `entries` the scope may have, and how many `bytes` of text
 */
export function fitsTable(asked: readonly AskedWord[], filter: Filter, held: SQL, share: number): SQL {
  const words = JSON.stringify(
    asked.map(({ word, prefix, times }) => [word, prefix ? 1 : 0, times * (prefix ? MERGING : 1)]),
  )
  const all = asked.reduce((sum, { times, prefix }) => sum + times * (prefix ? MERGING : 1), 0)
  const [densest, entry, least] = [DENSEST, ENTRY, LEAST].map((value) => sql.raw(String(value)))
  const weight = weightOf(filter)
  const [asks, above, byte] = [weight.entry * FILTERED, weight.above, weight.byte * METADATA].map((value) =>
    sql.raw(value.toFixed(2)),
  )
  // Metadata are looked at once, as far as they are not large, and are part of what is held.
  const filtered = (entries: SQL): SQL =>
    weight.byte === 0 ? sql`0` : sql`(${entries} * ${asks} + min(${entries} * ${above}, held.bytes) * ${byte})`
  const withWord = sql`min(held.entries, postings.bytes / ${least})`
  return sql`held (entries, bytes) AS MATERIALIZED (${held}), fits (yes) AS MATERIALIZED (
    SELECT CASE
      WHEN (bytes * ${densest} + entries * ${entry}) * ${all} + ${filtered(sql`held.entries`)} * ${asked.length} <= ${share} THEN 1
      ELSE (
        WITH RECURSIVE ${SEGMENTS}, postings (times, bytes) AS (
          SELECT asked.value ->> 2, ${postingsOf(sql`(asked.value ->> 0)`, sql`(asked.value ->> 1)`)} FROM json_each(${words}) asked
        )
        SELECT coalesce(sum(times * (postings.bytes + ${withWord} * ${entry}) + ${filtered(withWord)}), 0) <= ${share}
        FROM postings
      )
    END FROM held
  )`
}
