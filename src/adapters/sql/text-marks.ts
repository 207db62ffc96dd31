import { type SQL, sql } from 'drizzle-orm'
import { keptMarks } from '../../domain/reading/marks'

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
    sql`INSERT INTO text_marks (entry_id, text_hash, chars, lines, starts)
      SELECT e.id, ${textHash}, ${chars}, ${lines}, ${JSON.stringify(starts)} FROM entries e WHERE ${row}
      ON CONFLICT (entry_id) DO UPDATE SET text_hash = excluded.text_hash,
        chars = excluded.chars, lines = excluded.lines, starts = excluded.starts`,
  ]
}

/** The columns of a preview: the beginning of the text, and how long the whole is. */
export const previewText = (length: number): SQL =>
  sql`substr(e.text, 1, ${length}) AS text,
    coalesce((SELECT m.chars FROM text_marks m WHERE m.entry_id = e.id AND m.text_hash = e.text_hash), length(e.text)) AS chars`
