// Writes entries to the target: their rows, from which triggers derive tags, image uses and counters; their links, vectors and
// search terms; and the progress of the copy, all in one transaction.
import { type SQL, sql } from 'drizzle-orm'
import type { Row } from '../../adapters/sql/core/connection'
import { toEntry } from '../../adapters/sql/tables/entries/rows'
import { heldInRow, putBeside } from '../../adapters/sql/tables/texts/long-texts'
import { indexText } from '../../domain/search/indexed-text'
import { atOnce } from '../../domain/yielder'
import { columnList, entryColumns, idList, listEntries, pagesOf, type Side } from './side'

/** Columns of each table that are copied. */
export interface Columns {
  readonly entries: readonly string[]
  readonly links: readonly string[]
  readonly vectors: readonly string[]
  readonly versions: readonly string[]
}

/** The line index of a long text; a row is valid only for the text it was made from. */
const MARKS = ['entry_id', 'text_hash', 'chars', 'lines', 'starts']

/** D1 accepts 100 parameters per statement. */
const MAX_PARAMETERS = 100

const rowOf = (row: Row, columns: readonly string[]): SQL =>
  sql`(${sql.join(
    columns.map((column) => sql`${row[column] ?? null}`),
    sql`, `,
  )})`

function insert(table: string, columns: readonly string[], rows: readonly Row[], conflict = sql``): SQL[] {
  const together = Math.max(1, Math.floor(MAX_PARAMETERS / columns.length))
  const into = sql`INSERT INTO ${sql.raw(table)} (${columnList(columns)}) VALUES `
  return Array.from({ length: Math.ceil(rows.length / together) }, (_, i) => {
    const part = rows.slice(i * together, (i + 1) * together).map((row) => rowOf(row, columns))
    return sql`${into}${sql.join(part, sql`, `)}${conflict}`
  })
}

/** Copies the entries of a page, and replaces those in the target that have the same ids. */
export async function copyEntries(
  from: Side,
  to: Side,
  org: string,
  ids: readonly number[],
  columns: Columns,
  journal: readonly SQL[],
): Promise<void> {
  const list = idList(from, ids)
  const [entries = [], vectors = [], marks = []] = await from.connection.batch([
    sql`SELECT ${entryColumns(columns.entries)}, kind, reader FROM entries WHERE org = ${org} AND id IN ${list} ORDER BY id`,
    sql`SELECT ${columnList(columns.vectors)} FROM entry_vectors
      WHERE org = ${org} AND entry_id IN ${list}
      ORDER BY entry_id, model, chunk`,
    sql`SELECT ${columnList(MARKS.map((column) => `m.${column}`))} FROM text_line_index m JOIN entries e ON e.id = m.entry_id
      WHERE e.org = ${org} AND e.id IN ${list}`,
  ])
  const { dialect } = to.connection
  const terms = entries.map((row) => {
    const entry = toEntry(row)
    const indexed = atOnce(indexText(dialect.analyzer, entry))
    return dialect.indexEntry({ org, content: entry, indexed }, sql`e.id = ${entry.id}`)
  })
  const statements = [
    // The triggers must not treat this as the last call of the organization.
    sql`DELETE FROM write_context WHERE org = ${org}`,
    sql`DELETE FROM entries WHERE org = ${org} AND id IN ${idList(to, ids)}`,
    ...insert(
      'entries',
      columns.entries,
      entries.map((row) => ({ ...row, text: heldInRow(row.text as string) })),
    ),
    ...entries.flatMap((row) => putBeside(row.text as string, row.text_hash as string, sql`e.id = ${Number(row.id)}`)),
    ...insert('entry_vectors', columns.vectors, vectors),
    ...insert('text_line_index', MARKS, marks),
    ...terms,
    // Keys are not copied. A key created here later must not get an owner of these entries.
    sql`
      INSERT INTO owners (org, name)
      SELECT DISTINCT org, owner FROM entries
      WHERE org = ${org} AND id IN ${idList(to, ids)} AND owner IS NOT NULL
      ON CONFLICT DO NOTHING`,
    ...journal,
  ]
  await to.connection.batch(statements, { org })
}

/** Replaces the links of these entries with those of the source, which may differ from the entries' metadata. */
export async function copyLinks(
  from: Side,
  to: Side,
  org: string,
  ids: readonly number[],
  columns: readonly string[],
): Promise<void> {
  const [links = []] = await from.connection.batch([
    sql`SELECT ${columnList(columns)} FROM links WHERE org = ${org} AND from_id IN ${idList(from, ids)}`,
  ])
  const statements = [
    sql`DELETE FROM links WHERE org = ${org} AND from_id IN ${idList(to, ids)}`,
    ...insert('links', columns, links),
  ]
  await to.connection.batch(statements, { org })
}

/**
 * Copies retained versions, so that they can be read and restored in the target too. Starts from scratch each time:
 * the schedule of a running source may have deleted some meanwhile. Receipts are not copied, nor are the keys that they belong to.
 */
export async function copyVersions(
  from: Side,
  to: Side,
  org: string,
  columns: readonly string[],
  progress: (done: number, total: number) => void,
): Promise<void> {
  const all = await listEntries(from, org, 0, 'entry_versions')
  await to.connection.batch([sql`DELETE FROM entry_versions WHERE org = ${org}`], { org })
  let done = 0
  for (const ids of pagesOf(all)) {
    const list = idList(from, ids)
    const [versions = [], texts = []] = await from.connection.batch([
      sql`SELECT ${columnList(columns)} FROM entry_versions WHERE org = ${org} AND id IN ${list} ORDER BY id`,
      sql`SELECT DISTINCT l.hash, l.text FROM entry_versions v JOIN long_texts l ON l.org = v.org AND l.hash = v.text_hash
        WHERE v.org = ${org} AND v.id IN ${list}`,
    ])
    const statements = [
      ...insert('entry_versions', columns, versions),
      ...insert(
        'long_texts',
        ['org', 'hash', 'text'],
        texts.map((row) => ({ ...row, org })),
        sql` ON CONFLICT (org, hash) DO NOTHING`,
      ),
    ]
    await to.connection.batch(statements, { org })
    done += ids.length
    progress(done, all.length)
  }
}
