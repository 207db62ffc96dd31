import { type SQL, sql } from 'drizzle-orm'
import { keptMarks, UNMARKED } from '../../../domain/reading/marks'
import type { TextMarks } from '../../../ports/text-marks'
import type { SqlConnection } from '../connection'
import type { SqlDialect } from '../dialect'
import { jsonGroups } from '../json-groups'
import { beginningOf, textOf } from './long-texts'

/** Long entries that are looked at in one statement. */
const LOOKED_AT = 500
/** What is read of them, in bytes; a first one is always read. */
const MAX_READ = 2_000_000

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
      INSERT INTO text_marks (entry_id, text_hash, chars, lines, starts)
      SELECT e.id, made.text_hash, made.chars, made.lines, made.starts
      FROM ${dialect.jsonTable(sql`${json}`, columns)} made ${dialect.follow('entries', 'e', sql`e.id = made.id`)} WHERE true
      ON CONFLICT (entry_id) DO UPDATE SET text_hash = excluded.text_hash,
        chars = excluded.chars, lines = excluded.lines, starts = excluded.starts`,
  )
}

/** The columns of a preview: the beginning of the text, and how long the whole is. */
export const previewText = (dialect: SqlDialect, length: number): SQL =>
  sql`${beginningOf(dialect, length)} AS text, ${CHARS} AS chars`

/** How long the text of `e` is, in characters, without reading a long one. */
export const CHARS = sql`coalesce(
  (SELECT m.chars FROM text_marks m WHERE m.entry_id = e.id AND m.text_hash = e.text_hash), length(${textOf()})
)`

export function createSqlTextMarks(connection: SqlConnection): TextMarks {
  const { dialect } = connection

  /** Long entries behind an id, with the bytes to be read of each: 0 for one that needs no marks. */
  async function longEntries(after: number): Promise<{ id: number; unread: number }[]> {
    const [rows] = await connection.batch([
      sql`SELECT l.id,
          CASE WHEN m.entry_id IS NULL AND length(l.text) > ${sql.raw(String(UNMARKED))} THEN l.bytes ELSE 0 END AS unread
        FROM (SELECT e.id, e.bytes, ${textOf()} AS text, e.text_hash FROM entries e
            WHERE e.bytes > ${sql.raw(String(UNMARKED))} AND e.id > ${after} ORDER BY e.id LIMIT ${LOOKED_AT}) l
          LEFT JOIN text_marks m ON m.entry_id = l.id AND m.text_hash = l.text_hash
        ORDER BY l.id`,
    ])
    return (rows ?? []).map((row) => ({ id: Number(row.id), unread: Number(row.unread) }))
  }

  return {
    async mark(after) {
      const found = await longEntries(after)
      const wanted: number[] = []
      let bytes = 0
      let last = found.at(-1)?.id ?? null
      for (const [i, { id, unread }] of found.entries()) {
        bytes += unread
        if (wanted.length > 0 && bytes > MAX_READ) {
          last = (found[i - 1] as { id: number }).id
          break
        }
        if (unread > 0) wanted.push(id)
      }
      if (wanted.length === 0) return { marked: 0, last }
      const ids = dialect.jsonNumbers(sql`${JSON.stringify(wanted)}`)
      const [rows = []] = await connection.batch([
        sql`SELECT e.id, ${textOf()} AS text, e.text_hash
          FROM ${ids} wanted ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)}`,
      ])
      // A text that has changed meanwhile has marks of its own by now.
      const marks = rows.flatMap(({ id, text, text_hash }) =>
        keepMarks(
          text as string,
          text_hash as string,
          sql`e.id = ${Number(id)} AND e.text_hash = ${text_hash as string}`,
        ),
      )
      if (marks.length > 0) await connection.batch(marks, 'all')
      return { marked: marks.length, last }
    },
  }
}
