import { type SQL, sql } from 'drizzle-orm'
import { BEGINNING, BEGUN, isLong } from '../../../domain/entry/long-text'
import type { LongTexts } from '../../../ports/long-texts'
import type { SqlConnection } from '../connection'
import type { SqlDialect } from '../dialect'
import { withdrawal } from './sent-ahead'

/**
 * Where does the text of an entry stand? A short one in its row. A long one beside it, by its hash (0002_texts.sql): a
 * database writes a row anew whatever changes of it, so that new metadata, a read that counts or a deletion would each
 * write the whole text again, and history would keep a copy where now it keeps the hash.
 */

/** What is moved in one transaction, in bytes; a first one is always moved. */
const MAX_MOVED = 2_000_000
/** Long entries that are looked at in one statement. */
const LOOKED_AT = 500
/** Long texts that are read in one transaction to keep their beginnings: some megabytes. */
const BEGUN_AT_ONCE = 3

/** The text of an entry, wherever it stands. */
export const textOf = (alias = 'e'): SQL => {
  const e = sql.raw(alias)
  return sql`CASE WHEN ${e}.text <> '' THEN ${e}.text ELSE (
    SELECT l.text FROM long_texts l WHERE l.org = ${e}.org AND l.hash = ${e}.text_hash
  ) END`
}

/**
 * The first characters of the text of an entry.
 *
 * @param length at most `BEGINNING`, where no more than that is read of a text of any length
 */
export const beginningOf = ({ beginning }: SqlDialect, length: number, alias = 'e'): SQL => {
  const characters = sql.raw(String(length))
  if (beginning === null || length > BEGINNING) return sql`substr(${textOf(alias)}, 1, ${characters})`
  const e = sql.raw(alias)
  const kept = beginning(sql`${e}.org`, sql`${e}.text_hash`)
  return sql`substr(CASE WHEN ${e}.text <> '' THEN ${e}.text ELSE coalesce((${kept}), ${textOf(alias)}) END, 1, ${characters})`
}

const NONE_SENT: ReadonlySet<string> = new Set()

/** What stands in the row itself. */
export const heldInRow = (text: string): string => (isLong(text) ? '' : text)

/**
 * Puts a long text beside its row; nothing for a short one, or one that stands there. It goes again by itself with the last row that
 * needs it.
 *
 * @param row a condition on `e` that names the entry, which has this text by then
 * @param sent hashes of texts that were sent ahead (`sent-ahead.ts`)
 */
export const putBeside = (text: string, textHash: string, row: SQL, sent: ReadonlySet<string> = NONE_SENT): SQL[] =>
  isLong(text) && !sent.has(textHash)
    ? [
        sql`INSERT INTO long_texts (org, hash, text) SELECT e.org, ${textHash}, ${text} FROM entries e WHERE ${row}
          ON CONFLICT (org, hash) DO NOTHING`,
      ]
    : []

export function createSqlLongTexts(connection: SqlConnection): LongTexts {
  const { dialect } = connection
  return {
    async withdraw(org, hash) {
      await connection.batch(withdrawal(dialect, org, [hash], 'claimed'), { org })
    },

    async moveBeside(after) {
      const [found = []] = await connection.batch([
        sql`SELECT e.id, e.bytes FROM entries e
          WHERE e.bytes > 16384 AND e.id > ${after} AND e.text <> '' ORDER BY e.id LIMIT ${LOOKED_AT}`,
      ])
      let bytes = 0
      const part = found.filter((row, i) => {
        bytes += Number(row.bytes)
        return i === 0 || bytes <= MAX_MOVED
      })
      const last = part.at(-1)
      if (last === undefined) return { moved: 0, last: null }
      const ids = JSON.stringify(part.map(({ id }) => Number(id)))
      // Of a short text, with much metadata, the row is what it should be.
      const own = sql`id IN (SELECT value FROM ${dialect.jsonNumbers(sql`${ids}`)}) AND length(text) > 16384`
      const [, rows] = await connection.batch(
        [
          sql`INSERT INTO long_texts (org, hash, text) SELECT org, text_hash, text FROM entries WHERE ${own}
            ON CONFLICT (org, hash) DO NOTHING`,
          sql`UPDATE entries SET text = '' WHERE ${own} RETURNING id`,
        ],
        'all',
      )
      return { moved: rows?.length ?? 0, last: Number(last.id) }
    },

    async keepBeginnings(after) {
      // Only where a table numbers its rows are beginnings kept.
      if (dialect.beginning === null) return null
      const part = sql`(
        SELECT rowid AS place, org, hash, text FROM long_texts WHERE rowid > ${after} ORDER BY rowid LIMIT ${BEGUN_AT_ONCE}
      )`
      const [rows] = await connection.batch([
        sql`SELECT max(place) AS last FROM ${part}`,
        sql`
          INSERT INTO text_beginnings (org, hash, text)
          SELECT org, hash, substr(text, 1, ${BEGINNING}) FROM ${part} WHERE length(text) > ${BEGUN}
          ON CONFLICT (org, hash) DO NOTHING`,
      ])
      const last = rows?.[0]?.last
      return last === null || last === undefined ? null : Number(last)
    },
  }
}
