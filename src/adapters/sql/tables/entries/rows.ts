import { type SQL, sql } from 'drizzle-orm'
import type { Entry, Layer, Source } from '../../../../domain/entry/entry'
import type { ImageRef } from '../../../../domain/entry/image'
import type { Kind } from '../../../../domain/entry/kind'
import { isCaptured, type Metadata } from '../../../../domain/entry/metadata'
import { JSON_UNITS, type Pace } from '../../../../domain/pace'
import type { ThreadSummary } from '../../../../domain/report'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'

const columns = (names: readonly string[]): string => names.map((name) => `e.${name}`).join(', ')

/** What each entry has of about the same size. */
export const PLAIN_NAMES = (
  'id thread_id source kind layer title project agent archived captured reader owner ' +
  'created_by changed_by changed_agent version created_at updated_at'
).split(' ')
const PLAIN = columns(PLAIN_NAMES)

/** What stands beside the text and can be large, each with what stands for nothing. */
const BESIDE = { metadata: 'NULL', images: 'NULL', tags: `'[]'`, summary: `''` } as const

/** Of what can be large, the names. */
export const BESIDE_NAMES = Object.keys(BESIDE)
export const BESIDE_COLUMNS = sql.raw(columns(BESIDE_NAMES))

/** The columns an entry is read from; the text stands apart, because previews bring only its beginning. */
export const ENTRY_COLUMNS = sql.raw(`${PLAIN}, ${columns(Object.keys(BESIDE))}`)

/** The same, with what can be large only where a condition holds. */
export const entryColumnsWhere = (condition: SQL): SQL =>
  sql.join(
    [
      sql.raw(PLAIN),
      ...Object.entries(BESIDE).map(
        ([name, nothing]) =>
          sql`CASE WHEN ${condition} THEN e.${sql.raw(name)} ELSE ${sql.raw(nothing)} END AS ${sql.raw(name)}`,
      ),
    ],
    sql`, `,
  )

/** Bytes of what can be large, about. */
export const besideBytes = (dialect: Pick<SqlDialect, 'byteLength'>): SQL =>
  sql`(coalesce(${dialect.byteLength(sql`e.metadata`)}, 0) + coalesce(length(e.images), 0) + length(e.tags) + length(e.summary))`

export function toEntry(row: Row): Entry {
  const metadata = row.metadata === null ? null : (JSON.parse(row.metadata as string) as Metadata)
  // A kept state has no column for it (0012_captured.sql), but its metadata.
  const captured =
    row.captured === null || row.captured === undefined ? isCaptured(metadata) : Number(row.captured) === 1
  return {
    id: Number(row.id),
    threadId: row.thread_id as string,
    source: row.source as Source,
    kind: row.kind as Kind,
    layer: Number(row.layer) as Layer,
    title: row.title as string | null,
    project: row.project as string | null,
    agent: row.agent as string | null,
    archived: Boolean(row.archived) && !captured,
    captured,
    reader: row.reader as string,
    owner: row.owner as string | null,
    createdBy: row.created_by as string,
    changedBy: row.changed_by as string | null,
    changedAgent: row.changed_agent as string | null,
    version: Number(row.version),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    summary: row.summary as string,
    metadata,
    tags: JSON.parse(row.tags as string) as string[],
    images: row.images === null ? [] : (JSON.parse(row.images as string) as ImageRef[]),
    text: row.text as string,
  }
}

/**
 * What is made of rows by reading their JSON, as `toEntry` does; with rests in between, since a result's worth of it is megabytes.
 *
 * @param one reads a row
 */
export async function readRows<T>(rows: readonly Row[], pace: Pace, one: (row: Row) => T): Promise<T[]> {
  const read: T[] = []
  for (const row of rows) {
    read.push(one(row))
    await pace.spend(lengthOf(row.metadata) / JSON_UNITS)
  }
  return read
}

const lengthOf = (json: unknown): number => (typeof json === 'string' ? json.length : 0)

export const toThread = (row: Row): ThreadSummary => ({
  threadId: row.thread_id as string,
  entries: Number(row.entries),
  sources: Number(Number(row.user_entries) > 0) + Number(Number(row.user_entries) < Number(row.entries)),
  multimodal: Number(row.multimodal),
  firstSecond: Number(row.first_second),
  lastSecond: Number(row.last_second),
  lastId: Number(row.last_id),
})
