import { type SQL, sql } from 'drizzle-orm'
import { keptMarks } from '../../../../domain/reading/marks'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/json-groups'
import { beginningOf, textOf } from './long-texts'

/**
 * Keeps where the lines of a long text stand; nothing for a short one.
 *
 * @param row a condition on `e` that names the entry
 */
export function keepMarks(text: string, textHash: string, row: SQL): SQL[] {
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
export function keepMarksOf(
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
  sql`${beginningOf(dialect, length)} AS text, ${CHARS} AS chars`

/** How long the text of `e` is, in characters, without reading a long one, or a further row for one that stands in its own. */
export const CHARS = sql`CASE WHEN e.text <> '' THEN length(e.text) ELSE coalesce(
  (SELECT m.chars FROM text_line_index m WHERE m.entry_id = e.id AND m.text_hash = e.text_hash), length(${textOf()})
) END`
