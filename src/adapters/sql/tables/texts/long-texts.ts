import { type SQL, sql } from 'drizzle-orm'
import { isLong, PREVIEW_LENGTH } from '../../../../domain/entry/long-text'
import { keptMarks } from '../../../../domain/reading/lines'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/rows'

/**
 * Where does the text of an entry stand? A short one in its row. A long one beside it, by its hash: a
 * database writes a row anew whatever changes of it, so that new metadata, a read that counts or a deletion would each
 * write the whole text again, and history would keep a copy where now it keeps the hash.
 */

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
export const previewOf = ({ beginning }: SqlDialect, length: number, alias = 'e'): SQL => {
  const characters = sql.raw(String(length))
  if (beginning === null || length > PREVIEW_LENGTH) return sql`substr(${textOf(alias)}, 1, ${characters})`
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
 * @param sent hashes of texts that were sent ahead (`staged-texts.ts`)
 */
export const putBeside = (text: string, textHash: string, row: SQL, sent: ReadonlySet<string> = NONE_SENT): SQL[] =>
  isLong(text) && !sent.has(textHash)
    ? [
        sql`INSERT INTO long_texts (org, hash, text) SELECT e.org, ${textHash}, ${text} FROM entries e WHERE ${row}
          ON CONFLICT (org, hash) DO NOTHING`,
      ]
    : []

/**
 * Keeps where the lines of a long text stand; nothing for a short one.
 *
 * @param row a condition on `e` that names the entry
 */
export function storeLineIndex(text: string, textHash: string, row: SQL): SQL[] {
  const marks = keptMarks(text)
  if (marks === null) return []
  const { chars, lines, starts } = marks
  return [
    sql`INSERT INTO text_line_index (entry_id, text_hash, chars, lines, starts)
      SELECT e.id, ${textHash}, ${chars}, ${lines}, ${JSON.stringify(starts)} FROM entries e WHERE ${row}
      ON CONFLICT (entry_id) DO UPDATE SET text_hash = excluded.text_hash,
        chars = excluded.chars, lines = excluded.lines, starts = excluded.starts`,
  ]
}

/** As `keepMarks`, of many entries in one statement; none where all are short. */
export function storeLineIndexes(
  dialect: SqlDialect,
  entries: readonly { readonly id: number; readonly text: string; readonly textHash: string }[],
): SQL[] {
  const rows = entries.flatMap(({ id, text, textHash }) => {
    const marks = keptMarks(text)
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

/** The columns of a preview: the beginning of the text, and how long the whole is. */
export const previewText = (dialect: SqlDialect, length: number): SQL =>
  sql`${previewOf(dialect, length)} AS text, ${CHARS} AS chars`

/** How long the text of `e` is, in characters, without reading a long one, or a further row for one that stands in its own. */
export const CHARS = sql`CASE WHEN e.text <> '' THEN length(e.text) ELSE coalesce(
  (SELECT m.chars FROM text_line_index m WHERE m.entry_id = e.id AND m.text_hash = e.text_hash), length(${textOf()})
) END`
