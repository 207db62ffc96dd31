// Computes digests of entries, to compare two databases: a hash over every stored field, read from the tables that hold it.
import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Row } from '../../adapters/sql/core/connection'
import { columnList, entryColumns, groupBy, idList, type Side } from './side'

/** Columns that reading changes. */
const BOOKKEEPING: ReadonlySet<string> = new Set(['accessed_at', 'access_count'])

interface EntryDigest {
  readonly hash: string
  readonly tags: number
  readonly images: number
  readonly links: number
  readonly vectors: number
}

const sha256 = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** Serializes JSON with sorted keys, since databases store them in different orders. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return members.map(([key, member]) => [key, canonical(member)])
}

const valuesOf = (row: Row, columns: readonly string[]): unknown[] =>
  columns.map((column) => {
    const value = row[column] ?? null
    return column === 'metadata' && typeof value === 'string' ? canonical(JSON.parse(value)) : value
  })

/** Sorts rows independently of the database. */
const inOrder = (rows: readonly Row[]): unknown[] =>
  rows.map((row) => JSON.stringify(valuesOf(row, Object.keys(row).sort()))).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))

/** Returns the digests of those entries that exist. */
export async function digestEntries(
  side: Side,
  org: string,
  ids: readonly number[],
  columns: readonly string[],
): Promise<Map<number, EntryDigest>> {
  const list = idList(side, ids)
  const from = (parts: SQL): SQL => sql`SELECT ${parts} AND org = ${org}`
  const results = await side.connection.batch([
    from(sql`${entryColumns(columns)} FROM entries WHERE id IN ${list}`),
    side.tagRows(list),
    from(sql`entry_id, hash, size, mime_type FROM image_uses WHERE entry_id IN ${list}`),
    // Links to deleted entries are copied too, and are removed when these cannot be restored.
    from(sql`from_id AS entry_id, relation, to_id, origin, made_by FROM links
      WHERE from_id IN ${list} AND EXISTS (SELECT 1 FROM entries e WHERE e.id = to_id)`),
    from(sql`entry_id, model, chunk, start, length, data FROM entry_vectors WHERE entry_id IN ${list}`),
    side.indexedIds(list),
  ])
  const [rows = [], ...beside] = results
  const [tags, images, links, vectors, indexed] = beside.map((part, i) => groupBy(part, i === 4 ? 'id' : 'entry_id'))
  const kept = columns.filter((column) => !BOOKKEEPING.has(column))
  return new Map(
    rows.map((row) => {
      const id = Number(row.id)
      const parts = [tags, images, links, vectors].map((groups) => groups?.get(id) ?? [])
      const hash = sha256([valuesOf(row, kept), ...parts.map(inOrder), indexed?.has(id) ?? false])
      const [tagCount = 0, imageCount = 0, linkCount = 0, vectorCount = 0] = parts.map((part) => part.length)
      return [id, { hash, tags: tagCount, images: imageCount, links: linkCount, vectors: vectorCount }]
    }),
  )
}

/** Reads the counters of list_threads and get_statistics; triggers maintain them, so they are equal when the entries are. */
export async function digestCounters({ connection }: Side, org: string): Promise<{ threads: number; hash: string }> {
  const [rows = [], ...others] = await connection.batch([
    sql`SELECT thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second,
      last_second, first_id, last_id FROM thread_counters WHERE org = ${org}`,
    sql`SELECT project, reader, listed, entries, user_entries, multimodal, bytes, images, summaries
      FROM entry_counters WHERE org = ${org}`,
    sql`SELECT tag, project, reader, uses FROM tag_counters WHERE org = ${org}`,
    sql`SELECT project, reader, model, entries, vectors, bytes FROM vector_counters WHERE org = ${org} AND vectors > 0`,
  ])
  return { threads: new Set(rows.map((row) => row.thread_id)).size, hash: sha256([rows, ...others].map(inOrder)) }
}

const VERSIONS_A_PAGE = 200

/** Reads the retained versions, in the order of entries and versions. */
export async function digestVersions(
  { connection }: Side,
  org: string,
  columns: readonly string[],
): Promise<{ versions: number; hash: string }> {
  const hash = createHash('sha256')
  let versions = 0
  for (let last = [0, 0]; ; ) {
    const [rows = []] = await connection.batch([
      sql`SELECT ${columnList(columns)},
          (SELECT l.text FROM long_texts l WHERE l.org = v.org AND l.hash = v.text_hash) AS beside
        FROM entry_versions v WHERE v.org = ${org} AND (v.entry_id, v.version) > (${last[0]}, ${last[1]})
        ORDER BY v.entry_id, v.version LIMIT ${VERSIONS_A_PAGE}`,
    ])
    for (const row of rows) hash.update(`${JSON.stringify(valuesOf(row, [...columns, 'beside']))}\n`)
    versions += rows.length
    if (rows.length < VERSIONS_A_PAGE) return { versions, hash: hash.digest('hex') }
    const end = rows.at(-1) as Row
    last = [Number(end.entry_id), Number(end.version)]
  }
}
