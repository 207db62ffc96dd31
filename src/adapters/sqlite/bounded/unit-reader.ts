import { type SQL, sql } from 'drizzle-orm'
import { limitExceeded } from '../../../domain/errors'
import type { Unit } from '../../../domain/search/query-unit'
import { inShares } from '../../../domain/write-share'
import type { Decode } from '../../sql/core/batch'
import type { Row } from '../../sql/core/connection'
import { json, numbersOf, textsOf } from '../../sql/core/rows'
import type { MatchCompiler } from '../match'
import type { Shares } from './cost'
import { longerStatement, postingsStatement } from './postings'

/** Where do single parts of a query stand? Asked of the index in statements that each go through a share of it. */

/** Longer beginnings that one statement finds: each may cost what a text holds. */
const LONGER_AT_ONCE = 4

/** A longer beginning, or a word. */
interface Piece {
  readonly word: string
  readonly prefix: boolean
  readonly bytes: number
}

export type Asked = Pick<Unit, 'terms' | 'prefix' | 'phrase'>

/** What is asked of the index by itself, which an entry holds or not. */
export interface AskedUnit {
  readonly match: string
  readonly unit: Asked
}

/**
 * FTS5 goes on from where it is told only with single words. It looks for a phrase, and merges beginnings, before it knows where to stop:
 * those are asked for once, in all entries of the scope.
 */
export const isWord = ({ unit }: AskedUnit): boolean => unit.terms.length === 1 && !unit.prefix

/** In which entries of a part each unit holds, in the order of ids. */
export type Found = ReadonlyMap<string, readonly number[]>

export const whole = (number: number): SQL => sql.raw(String(Math.floor(number)))

export const tooMuch = () =>
  limitExceeded(
    'These words stand too often in too much text to be looked for at once; ask without quotes, or for fewer, longer or rarer words',
  )

/**
 * @param read one round trip, with a rest before it
 */
export function createUnitReader(
  read: <T>(statement: SQL, decode: Decode<T>) => Promise<T>,
  compiler: MatchCompiler,
  shares: Shares,
) {
  const holding = (units: readonly Pick<AskedUnit, 'match'>[], scope: string, after: number, upTo: SQL): SQL => sql`
    SELECT asked.key AS unit, (
      SELECT json_group_array(id) FROM (
        SELECT rowid AS id FROM entries_fts
        WHERE entries_fts MATCH asked.value AND rowid > ${whole(after)} AND rowid <= ${upTo} ORDER BY rowid
      )
    ) AS ids
    FROM json_each(${JSON.stringify(units.map(({ match }) => (match === '' ? scope : `${scope} AND ${match}`)))}) asked`

  /** Entries that hold one of them. */
  const idsOf = async (units: readonly Pick<AskedUnit, 'match'>[], scope: string): Promise<number[]> => {
    const all = (rows: readonly Row[]) => rows.flatMap((row) => json<number[]>(row, 'ids'))
    return read(holding(units, scope, 0, whole(Number.MAX_SAFE_INTEGER)), all)
  }

  async function postingsOf(words: readonly { word: string; prefix: boolean }[]): Promise<number[]> {
    return read(postingsStatement(words), numbersOf('bytes'))
  }

  /** What makes up a beginning together: longer ones that take no more than a share each, and words. */
  async function piecesOf(beginning: string): Promise<Piece[]> {
    const pieces: Piece[] = []
    for (let level = [beginning]; level.length > 0; ) {
      const asked = level.flatMap((word) => [true, false].map((prefix) => ({ word, prefix })))
      const postings = await postingsOf(asked)
      const longer: string[] = []
      for (const [i, word] of level.entries()) {
        const bytes = postings[2 * i] as number
        if (bytes <= shares.beginning) {
          pieces.push({ word, prefix: true, bytes })
          continue
        }
        pieces.push({ word, prefix: false, bytes: postings[2 * i + 1] as number })
        for (let after = word; ; ) {
          const found: string[] = await read(longerStatement(word, after, LONGER_AT_ONCE), textsOf('beginning'))
          longer.push(...found)
          const last = found.at(-1)
          if (last === undefined || found.length < LONGER_AT_ONCE) break
          after = last
        }
      }
      level = longer
    }
    return pieces
  }

  /** Where phrases stand, and words that are looked for by their beginnings. */
  async function stretched(scope: string, units: readonly AskedUnit[]): Promise<Found> {
    const found = new Map<string, readonly number[]>()
    for (const { match, unit } of units) {
      const { terms: words, prefix } = unit
      const last = words.at(-1) as string
      const asked = words.map((word, i) => ({ word, prefix: prefix && i === words.length - 1 }))
      const postings = await postingsOf(asked)
      const before = postings.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0)
      const own = postings.at(-1) as number
      if (before + (prefix ? 0 : own) > shares.phrase) throw tooMuch()
      if (!prefix || own <= shares.beginning) {
        found.set(match, await idsOf([{ match }], scope))
        continue
      }
      const ids = new Set<number>()
      for (const group of inShares(await piecesOf(last), ({ bytes }) => Math.max(1, bytes), shares.beginning)) {
        const matches = group.map(({ word, prefix }) => ({ match: compiler.lengthened(unit, word, !prefix) }))
        for (const id of await idsOf(matches, scope)) ids.add(id)
      }
      found.set(
        match,
        [...ids].sort((a, b) => a - b),
      )
    }
    return found
  }

  return { holding, stretched, postingsOf }
}
