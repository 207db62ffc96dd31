import { type SQL, sql } from 'drizzle-orm'
import { isLong, PREVIEW_LENGTH } from '../../../../domain/entry/long-text'
import { storedLineIndex } from '../../../../domain/reading/lines'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/rows'

/**
 * Stores the text of an entry: a short one in its row, a long one in a table of its own, by its hash. A database rewrites a row for any
 * change, so a new version, a counted read or a deletion would otherwise write the complete text again, and history would store a copy
 * instead of the hash.
 */

/** Returns the text of an entry from either table. */
export const textOf = (alias = 'e'): SQL => {
  const e = sql.raw(alias)
  return sql`CASE WHEN ${e}.text <> '' THEN ${e}.text ELSE (
    SELECT l.text FROM long_texts l WHERE l.org = ${e}.org AND l.hash = ${e}.text_hash
  ) END`
}

/**
 * Returns the first characters of the text of an entry.
 *
 * @param length at most `PREVIEW_LENGTH`, which is the stored preview of a long text
 */
export const previewOf = ({ preview }: SqlDialect, length: number, alias = 'e'): SQL => {
  const characters = sql.raw(String(length))
  if (preview === null || length > PREVIEW_LENGTH) return sql`substr(${textOf(alias)}, 1, ${characters})`
  const e = sql.raw(alias)
  const kept = preview(sql`${e}.org`, sql`${e}.text_hash`)
  return sql`substr(CASE WHEN ${e}.text <> '' THEN ${e}.text ELSE coalesce((${kept}), ${textOf(alias)}) END, 1, ${characters})`
}

const NONE_SENT: ReadonlySet<string> = new Set()

/** Returns the text to store in the row itself. */
export const inlineText = (text: string): string => (isLong(text) ? '' : text)

/**
 * Stores a long text, unless it exists; does nothing for a short one. A trigger deletes it with the last row that refers to it.
 *
 * @param row a condition on `e` that selects the entry, which has this text by then
 * @param sent hashes of staged texts (`staged-texts.ts`)
 */
export const storeLongText = (
  text: string,
  textHash: string,
  row: SQL,
  sent: ReadonlySet<string> = NONE_SENT,
): SQL[] =>
  isLong(text) && !sent.has(textHash)
    ? [
        sql`INSERT INTO long_texts (org, hash, text) SELECT e.org, ${textHash}, ${text} FROM entries e WHERE ${row}
          ON CONFLICT (org, hash) DO NOTHING`,
      ]
    : []

/**
 * Stores the line index of a long text; does nothing for a short one.
 *
 * @param row a condition on `e` that selects the entry
 */
export function storeLineIndex(text: string, textHash: string, row: SQL): SQL[] {
  const marks = storedLineIndex(text)
  if (marks === null) return []
  const { chars, lines, starts } = marks
  return [
    sql`INSERT INTO text_line_index (entry_id, text_hash, chars, lines, starts)
      SELECT e.id, ${textHash}, ${chars}, ${lines}, ${JSON.stringify(starts)} FROM entries e WHERE ${row}
      ON CONFLICT (entry_id) DO UPDATE SET text_hash = excluded.text_hash,
        chars = excluded.chars, lines = excluded.lines, starts = excluded.starts`,
  ]
}

/** Stores the line indexes of many entries in one statement; returns none if all are short. */
export function storeLineIndexes(
  dialect: SqlDialect,
  entries: readonly { readonly id: number; readonly text: string; readonly textHash: string }[],
): SQL[] {
  const rows = entries.flatMap(({ id, text, textHash }) => {
    const marks = storedLineIndex(text)
    return marks === null ? [] : [[id, textHash, marks.chars, marks.lines, JSON.stringify(marks.starts)]]
  })
  const columns = { id: 'integer', text_hash: 'text', chars: 'integer', lines: 'integer', starts: 'text' } as const
  return jsonGroups(rows).map(
    (json) => sql`
      INSERT INTO text_line_index (entry_id, text_hash, chars, lines, starts)
      SELECT e.id, made.text_hash, made.chars, made.lines, made.starts
      FROM ${dialect.jsonTable(sql`${json}`, columns)} made ${dialect.plan.follow('entries', 'e', sql`e.id = made.id`)} WHERE true
      ON CONFLICT (entry_id) DO UPDATE SET text_hash = excluded.text_hash,
        chars = excluded.chars, lines = excluded.lines, starts = excluded.starts`,
  )
}

/** Returns the columns of a preview: the start of the text, and its full length. */
export const previewText = (dialect: SqlDialect, length: number): SQL =>
  sql`${previewOf(dialect, length)} AS text, ${CHARS} AS chars`

/** Returns the characters of the text of `e`, without reading a long text, or another row for a short one. */
export const CHARS = sql`CASE WHEN e.text <> '' THEN length(e.text) ELSE coalesce(
  (SELECT m.chars FROM text_line_index m WHERE m.entry_id = e.id AND m.text_hash = e.text_hash), length(${textOf()})
) END`
