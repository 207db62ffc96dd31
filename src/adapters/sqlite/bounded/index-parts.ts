import { type SQL, sql } from 'drizzle-orm'
import { inParts } from '../../../domain/in-parts'
import type { Decode } from '../../sql/core/batch'
import type { Row } from '../../sql/core/connection'
import type { Bindings } from '../../sql/core/dialect'
import { asRows, json, jsonOrNull, num } from '../../sql/core/rows'
import { withPrelude } from '../../sql/tables/entries/read-statements'
import { NOWHERE } from '../full-text-index'
import type { MatchCompiler } from '../match'
import type { Shares } from './cost'
import { type AskedUnit, createUnitReader, type Found, isWord, whole } from './unit-reader'

/** The entries of a scope in the order of ids, a part at a time, and which units of a query each holds. */

/** Words that one statement asks for: each costs it the entry before its part and the one behind, too. */
const PART_WORDS = 8
/** Where few words are asked for, a part has up to so many times as many entries. */
const LARGER_PART = 3

const NOTHING: Part = { found: new Map(), admitted: null }

const grouped = (words: readonly AskedUnit[]): AskedUnit[][] =>
  Array.from({ length: Math.ceil(words.length / PART_WORDS) }, (_, i) =>
    words.slice(i * PART_WORDS, (i + 1) * PART_WORDS),
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

/** What is asked of the entries of a part, which is looked at with them where that stays within a share. */
export interface Admission {
  /** A condition on entries `e`, and its values. */
  readonly by: () => { readonly bindings: Bindings; readonly condition: SQL }
  /** Entries of which one statement may ask it. */
  readonly most: number
}

/** A part of the entries. */
interface Part {
  readonly found: Found
  /** Those that are admitted, with the words that each has; null where that was not looked at. */
  readonly admitted: ReadonlyMap<number, number> | null
}

/**
 * The next part, as the table `part`: so many entries of the scope behind an id. Its bytes are added up at once, and one by one only where
 * they are too many.
 *
 * @param most entries of it
 * @param text bytes of it
 * @param condition what is asked of its entries; null where that is not looked at
 */
function partTables(scope: string, after: number, most: number, text: number, condition: SQL | null): SQL[] {
  const behind = (match: SQL, columns: SQL) => sql`
    SELECT entries_fts.rowid AS id, e.bytes${columns}
    FROM entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
    WHERE entries_fts MATCH ${match} AND entries_fts.rowid > ${whole(after)}
    ORDER BY entries_fts.rowid LIMIT ${whole(most)}`
  const asked = condition === null ? sql`` : sql`, e.text_words AS words, (${condition}) AS may`
  const admitted = condition === null ? sql`NULL` : sql`json_group_array(json_array(id, words)) FILTER (WHERE may)`
  const tooMuchText = sql`(SELECT bytes FROM next) > ${whole(Math.max(text, 1))}`
  return [
    sql`next AS MATERIALIZED (
      SELECT max(id) AS last, count(*) AS entries, sum(bytes) AS bytes, ${admitted} AS admitted FROM (${behind(sql`${scope}`, asked)})
    )`,
    sql`part AS MATERIALIZED (
      SELECT last, entries = ${whole(most)} AS more, admitted FROM next WHERE NOT ${tooMuchText}
      UNION ALL
      SELECT max(id), count(*) < (SELECT entries FROM next) OR count(*) = ${whole(most)}, NULL FROM (
        SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before
        FROM (${behind(sql`CASE WHEN ${tooMuchText} THEN ${scope} ELSE ${NOWHERE} END`, sql``)})
      )
      WHERE before < ${whole(Math.max(text, 1))} HAVING max(id) IS NOT NULL
    )`,
  ]
}

/** @param read one round trip, with a rest before it */
export function createIndexParts(
  read: <T>(statement: SQL, decode: Decode<T>) => Promise<T>,
  compiler: MatchCompiler,
  shares: Shares,
) {
  const { holding, stretched, postingsOf } = createUnitReader(read, compiler, shares)

  /** Of a part, where these are asked for. */
  const entriesOf = (groups: readonly (readonly AskedUnit[])[]) =>
    Math.floor(shares.entries * Math.min(LARGER_PART, PART_WORDS / Math.max(1, ...groups.map(({ length }) => length))))

  /** @param wanted units that are still asked for, before each part */
  return async function* (
    scope: string,
    wanted: () => readonly AskedUnit[],
    admission: Admission | null = null,
  ): AsyncGenerator<Part> {
    const all = wanted()
    const begun = await stretched(
      scope,
      all.filter((unit) => !isWord(unit)),
    )
    const words = all.filter(isWord)
    const sizes = await postingsOf(words.map(({ unit }) => ({ word: unit.terms[0] as string, prefix: false })))
    const postings = new Map(words.map(({ match }, i) => [match, sizes[i] as number]))
    const textOf = (group: readonly AskedUnit[]): number =>
      textWithin(
        shares.part,
        group.map(({ match }) => postings.get(match) as number),
      )

    async function step(after: number): Promise<{ found: Part; next: number | null }> {
      const asked = wanted()
      if (asked.length === 0) return { found: NOTHING, next: null }
      const groups = grouped(asked.filter(isWord))
      const [first = [], ...others] = groups
      const most = entriesOf(groups)
      const text = Math.min(...groups.map(textOf), Number.MAX_SAFE_INTEGER)
      const by = admission !== null && most <= admission.most ? admission.by() : null
      const tables = partTables(scope, after, most, text, by?.condition ?? null)
      const bounded = sql`
        SELECT NULL AS unit, (SELECT json_array(last, more, json(admitted)) FROM part) AS ids
        UNION ALL
        SELECT * FROM (${holding(first, scope, after, sql`(SELECT last FROM part)`)})`
      const statement = by
        ? withPrelude(by.bindings, tables, bounded)
        : sql`WITH ${sql.join(tables, sql`, `)} ${bounded}`
      const [bounds, ...held]: readonly Row[] = await read(statement, asRows)
      const range = jsonOrNull<[number, number, [number, number][] | null]>(bounds ?? {}, 'ids')
      if (range === null) return { found: NOTHING, next: null }
      const [last, more, admitted] = range
      const found = new Map([...begun].map(([match, ids]) => [match, ids.filter((id) => id > after && id <= last)]))
      const note = (group: readonly AskedUnit[], answers: readonly Row[]) => {
        for (const row of answers) {
          const unit = group[num(row, 'unit')]
          if (unit !== undefined) found.set(unit.match, json<number[]>(row, 'ids'))
        }
      }
      note(first, held)
      for (const group of others) note(group, await read(holding(group, scope, after, whole(last)), asRows))
      return { found: { found, admitted: admitted && new Map(admitted) }, next: more ? last : null }
    }

    yield* inParts({ start: 0, step })
  }
}
