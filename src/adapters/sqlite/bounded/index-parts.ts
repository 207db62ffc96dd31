import { type SQL, sql } from 'drizzle-orm'
import { inParts } from '../../../domain/in-parts'
import type { Decode } from '../../sql/core/batch'
import type { Row } from '../../sql/core/connection'
import { asRows, json, num } from '../../sql/core/rows'
import type { MatchCompiler } from '../match'
import type { Shares } from './cost'
import { type AskedUnit, createUnitReader, type Found, isWord, whole } from './unit-reader'

/** The entries of a scope in the order of ids, a part at a time, and which units of a query each holds. */

/** Words that one statement asks for: each costs it the entry before its part and the one behind, too. */
const PART_WORDS = 8
/** Where few words are asked for, a part has up to so many times as many entries. */
const LARGER_PART = 3

const NOTHING: Found = new Map()

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

/**
 * The next part, as the tables `next` and `part`: so many entries of the scope behind an id.
 *
 * @param most entries of it
 * @param text bytes of it
 */
const partTables = (scope: string, after: number, most: number, text: number): SQL => sql`
  next AS MATERIALIZED (
    SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM (
      SELECT entries_fts.rowid AS id, e.bytes
      FROM entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
      WHERE entries_fts MATCH ${scope} AND entries_fts.rowid > ${whole(after)}
      ORDER BY entries_fts.rowid LIMIT ${whole(most)}
    )
  ),
  part AS MATERIALIZED (SELECT max(id) AS last, count(*) AS entries FROM next WHERE before < ${whole(Math.max(text, 1))})`

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
  return async function* (scope: string, wanted: () => readonly AskedUnit[]): AsyncGenerator<Found> {
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

    async function step(after: number): Promise<{ found: Found; next: number | null }> {
      const asked = wanted()
      if (asked.length === 0) return { found: NOTHING, next: null }
      const groups = grouped(asked.filter(isWord))
      const [first = [], ...others] = groups
      const most = entriesOf(groups)
      const text = Math.min(...groups.map(textOf), Number.MAX_SAFE_INTEGER)
      const [bounds, ...held]: readonly Row[] = await read(
        sql`
        WITH ${partTables(scope, after, most, text)}
        SELECT NULL AS unit, (
          SELECT json_array(last, entries < (SELECT count(*) FROM next) OR entries = ${whole(most)}) FROM part
        ) AS ids
        UNION ALL
        SELECT * FROM (${holding(first, scope, after, sql`(SELECT last FROM part)`)})`,
        asRows,
      )
      const [last, more]: [number | null, number] = json<[number | null, number]>(bounds ?? {}, 'ids')
      if (last === null) return { found: NOTHING, next: null }
      const found = new Map([...begun].map(([match, ids]) => [match, ids.filter((id) => id > after && id <= last)]))
      const note = (group: readonly AskedUnit[], answers: readonly Row[]) => {
        for (const row of answers) {
          const unit = group[num(row, 'unit')]
          if (unit !== undefined) found.set(unit.match, json<number[]>(row, 'ids'))
        }
      }
      note(first, held)
      for (const group of others) note(group, await read(holding(group, scope, after, whole(last)), asRows))
      return { found, next: more ? last : null }
    }

    yield* inParts({ start: 0, step })
  }
}
