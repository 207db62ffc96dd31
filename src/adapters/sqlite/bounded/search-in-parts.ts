import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../domain/pace'
import { COMMON, COUNTED_ALL, isSampled, ofSample, SAMPLE } from '../../../domain/search/candidate-rules'
import { weightOf } from '../../../domain/search/filter-weight'
import type { Expression } from '../../../domain/search/query-unit'
import { type Decode, readOne } from '../../sql/core/batch'
import type { Row, SqlConnection } from '../../sql/core/connection'
import { asRows, json, num } from '../../sql/core/rows'
import { entriesWithin, shareOf } from '../../sql/tables/entries/share'
import type { AnySearch } from '../../sql/tables/search/candidates'
import { splitUnits, type TermCount } from '../../sql/tables/search/candidates'
import { COUNTED } from '../../sql/tables/search/choosing'
import type { MatchCompiler } from '../match'
import { type Best, createBest } from './best-candidates'
import { createLeafReader, type Found, isWord, type Leaf, tooMuch, whole } from './leaves'
import type { Shares } from './search-cost'

/**
 * What one statement finds of a search, found by several with rests between: each asks for some words in some entries. The answer is the
 * same, entry by entry; the parts follow the ids.
 */

/** Words that one statement asks for: each costs it the entry before its part and the one behind, too. */
const PART_WORDS = 8
/** D1 answers a thousand queries of a request. */
const MOST_PARTS = 900

export interface InParts {
  readonly connection: SqlConnection
  readonly pace: Pace
  readonly shares: Shares
  readonly compiler: MatchCompiler
  readonly request: AnySearch
  /** The part of the scope that is searched, and the scope in which words are counted, as MATCH expressions. */
  readonly confined: string
  readonly wide: string
  /** A query of `id` and `words` of those of the entries that scope and filter admit. */
  readonly admitted: (ids: readonly number[]) => SQL
}

export interface FoundInParts {
  readonly found: readonly Best[]
  readonly preferred: readonly Best[]
  readonly counts: readonly TermCount[]
  /** Null where candidates come from the whole scope. */
  readonly beyond: readonly TermCount[] | null
}

/** Where few words are asked for, a part has so many times as many entries. */
const MOST_TIMES = 3

/** Leaves in groups of so many. */
const grouped = (leaves: readonly Leaf[]): Leaf[][] =>
  Array.from({ length: Math.ceil(leaves.length / PART_WORDS) }, (_, i) =>
    leaves.slice(i * PART_WORDS, (i + 1) * PART_WORDS),
  )

/** Bytes of text of which words with such postings take no more than a share. */
function textWithin(share: number, postings: readonly number[]): number {
  let left = share
  const sorted = [...postings].sort((a, b) => a - b)
  for (const [i, bytes] of sorted.entries()) {
    const others = sorted.length - i
    if (bytes * others > left) return left / others
    left -= bytes
  }
  return Number.MAX_SAFE_INTEGER
}

/** Counts entries with a term up to a cap, in the order of ids. */
function createCount(cap: number) {
  let [counted, reached]: TermCount = [0, null]
  return {
    add(ids: readonly number[]): void {
      const last = ids[Math.min(ids.length, cap - counted) - 1]
      if (last !== undefined) reached = last
      counted = Math.min(cap, counted + ids.length)
    },
    isFull: () => counted >= cap,
    value: (): TermCount => [counted, reached],
  }
}

/** The same up to `COMMON`, of many by a sample. */
function createSampledCount() {
  const [few, sampled] = [createCount(COUNTED_ALL), createCount(COMMON / SAMPLE)]
  return {
    add(ids: readonly number[]): void {
      few.add(ids)
      sampled.add(ids.filter(isSampled))
    },
    value(): TermCount {
      const [[n, last], [told, reached]] = [few.value(), sampled.value()]
      return n < COUNTED_ALL ? [n, last] : [ofSample(told), reached]
    },
  }
}

/** @throws Problem limit_exceeded when there is more to be gone through than one request may ask for */
export async function searchInParts(given: InParts): Promise<FoundInParts> {
  const { connection, pace, shares, compiler, request, confined, wide } = given
  const { query, terms, depth, units, rare, filter } = request
  const share = weightOf(filter).byte === 0 ? null : shareOf(connection.dialect, filter)
  /** Entries whose metadata one statement looks at. */
  const atOnce = share === null ? Number.POSITIVE_INFINITY : entriesWithin(share)
  let spent = 0

  /** One round trip, with a rest before it. */
  async function read<T>(statement: SQL, decode: Decode<T>): Promise<T> {
    await pace.rest()
    if (++spent > MOST_PARTS) throw tooMuch()
    return readOne(connection, statement, decode)
  }

  const { holding, stretched, postingsOf } = createLeafReader(read, compiler, shares)

  /** Of a part, where these are asked for. */
  const entriesOf = (groups: readonly (readonly Leaf[])[]) =>
    Math.floor(shares.entries * Math.min(MOST_TIMES, PART_WORDS / Math.max(1, ...groups.map(({ length }) => length))))

  /** Goes through a scope in the order of ids. @param leaves those that are still asked for, before each part */
  async function* parts(scope: string, leaves: () => readonly Leaf[]): AsyncGenerator<Found> {
    const wanted = leaves()
    const begun = await stretched(
      scope,
      wanted.filter((leaf) => !isWord(leaf)),
    )
    const words = wanted.filter(isWord)
    const sizes = await postingsOf(words.map(({ unit }) => ({ word: unit.terms[0] as string, prefix: false })))
    const postings = new Map(words.map(({ match }, i) => [match, sizes[i] as number]))
    for (let after: number | null = 0; after !== null; ) {
      const asked = leaves()
      if (asked.length === 0) return
      const groups = grouped(asked.filter(isWord))
      const [first = [], ...others] = groups
      const most = entriesOf(groups)
      const text = Math.min(
        ...groups.map((group) =>
          textWithin(
            shares.part,
            group.map(({ match }) => postings.get(match) as number),
          ),
        ),
        Number.MAX_SAFE_INTEGER,
      )
      const next: SQL = sql`
        next AS MATERIALIZED (
          SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM (
            SELECT entries_fts.rowid AS id, e.bytes
            FROM entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
            WHERE entries_fts MATCH ${scope} AND entries_fts.rowid > ${whole(after)}
            ORDER BY entries_fts.rowid LIMIT ${whole(most)}
          )
        ),
        part AS MATERIALIZED (SELECT max(id) AS last, count(*) AS entries FROM next WHERE before < ${whole(Math.max(text, 1))})`
      const [bounds, ...held]: readonly Row[] = await read(
        sql`
        WITH ${next}
        SELECT NULL AS leaf, (
          SELECT json_array(last, entries < (SELECT count(*) FROM next) OR entries = ${whole(most)}) FROM part
        ) AS ids
        UNION ALL
        SELECT * FROM (${holding(first, scope, after, sql`(SELECT last FROM part)`)})`,
        asRows,
      )
      const [last, more]: [number | null, number] = json<[number | null, number]>(bounds ?? {}, 'ids')
      if (last === null) return
      const from = after
      const found = new Map([...begun].map(([match, ids]) => [match, ids.filter((id) => id > from && id <= last)]))
      const note = (group: readonly Leaf[], answers: readonly Row[]) => {
        for (const row of answers) {
          const leaf = group[num(row, 'leaf')]
          if (leaf !== undefined) found.set(leaf.match, json<number[]>(row, 'ids'))
        }
      }
      note(first, held)
      for (const group of others) note(group, await read(holding(group, scope, after, whole(last)), asRows))
      yield found
      after = more ? last : null
    }
  }

  const ofTerms = terms.map(
    (term): Leaf => ({
      match: compiler.term(term),
      unit: { terms: [term.term], prefix: term.by === 'beginning', phrase: false },
    }),
  )
  const leaves = new Map(ofTerms.map((leaf) => [leaf.match, leaf]))
  /** A leaf for whatever the expression asks. */
  const prepare = (expression: Expression): void => {
    if (expression.op === 'unit') {
      const { unit } = expression
      const match = compiler.unit(unit)
      leaves.set(match, { match, unit })
    } else if (expression.op === 'not') {
      leaves.set('', { match: '', unit: { terms: [''], prefix: false, phrase: false } })
      prepare(expression.of)
    } else expression.of.forEach(prepare)
  }
  const holds = (expression: Expression, isIn: (match: string) => boolean): boolean => {
    switch (expression.op) {
      case 'unit':
        return isIn(compiler.unit(expression.unit))
      case 'not':
        return isIn('') && !holds(expression.of, isIn)
      case 'and':
        return expression.of.every((part) => holds(part, isIn))
      case 'or':
        return expression.of.some((part) => holds(part, isIn))
    }
  }

  const { alone, composed } = splitUnits(query.units, terms)
  const expression = query.expression as Expression
  if (units !== undefined) for (const unit of composed) prepare({ op: 'unit', unit })
  else if (rare === undefined) for (const asked of [expression, query.preferred]) if (asked !== null) prepare(asked)
  const alike = units === undefined && rare === undefined && expression.op === 'unit'

  const counts = terms.map(() => (rare === undefined ? createSampledCount() : createCount(rare + 1)))
  const best = createBest({ rare, alike, most: depth.candidates })
  const preferred = createBest({ rare: undefined, alike: true, most: depth.complete })
  for await (const found of parts(confined, () => [...leaves.values()])) {
    const sets = new Map([...found].map(([match, ids]) => [match, new Set(ids)]))
    for (const [i, { match }] of ofTerms.entries()) counts[i]?.add(found.get(match) ?? [])
    const wanted: { id: number; places: number[]; held: number; meant: boolean; complete: boolean }[] = []
    for (const id of new Set([...found.values()].flat())) {
      const isIn = (match: string) => sets.get(match)?.has(id) === true
      const places = ofTerms.flatMap(({ match }, i) => (isIn(match) ? [i] : []))
      const held =
        places.filter((place) => alone.includes(place)).length +
        composed.filter((unit) => isIn(compiler.unit(unit))).length
      const meant = rare !== undefined ? places.length > 0 : units ? held >= units.atLeast : holds(expression, isIn)
      const complete = !units && rare === undefined && query.preferred !== null && holds(query.preferred, isIn)
      if (meant || complete) wanted.push({ id, places, held: units ? held : 0, meant, complete })
    }
    if (wanted.length === 0) continue
    const words = new Map<number, number>()
    for (let at = 0; at < wanted.length; at += atOnce) {
      const ids = wanted.slice(at, at + atOnce).map(({ id }) => id)
      for (const row of await read(given.admitted(ids), asRows)) words.set(num(row, 'id'), num(row, 'words'))
    }
    for (const { id, places, held, meant, complete } of wanted) {
      const length = words.get(id)
      if (length === undefined) continue
      if (meant) best.add({ id, words: length, held, places })
      if (complete) preferred.add({ id, words: length, held: 0, places: [] })
    }
  }

  const further = terms.map(() => createCount(COUNTED))
  const isBeyond = wide !== confined && rare === undefined
  if (isBeyond)
    for await (const found of parts(wide, () => ofTerms.filter((_, i) => !further[i]?.isFull())))
      for (const [i, { match }] of ofTerms.entries()) further[i]?.add(found.get(match) ?? [])
  const numbers = counts.map((count) => count.value())
  return {
    found: best.chosen(numbers.map(([n]) => n)),
    preferred: preferred.chosen([]),
    counts: numbers,
    beyond: isBeyond ? further.map((count) => count.value()) : null,
  }
}
