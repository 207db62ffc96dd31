import { type SQL, sql } from 'drizzle-orm'
import { type Entry, type Layer, SOURCES } from '../../../../domain/entry/entry'
import { isCaptured } from '../../../../domain/entry/extracted-metadata'
import type { ImageRef } from '../../../../domain/entry/image'
import { KINDS } from '../../../../domain/entry/kind'
import type { Metadata } from '../../../../domain/entry/metadata'
import { JSON_UNITS, scheduler } from '../../../../domain/scheduler'
import type { ThreadSummary } from '../../../../domain/statistics'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { flag, json, jsonOrNull, num, numOrNull, oneOf, str, strOrNull } from '../../core/rows'

const columns = (names: readonly string[]): string => names.map((name) => `e.${name}`).join(', ')

/** Columns of bounded size. */
export const PLAIN_NAMES = (
  'id thread_id source kind layer title project agent archived captured reader owner ' +
  'created_by imported_from approved_version changed_by changed_agent version created_at updated_at text_hash'
).split(' ')
const PLAIN = columns(PLAIN_NAMES)

/** Columns besides the text that can be large, each with its empty value. */
const LARGE_COLUMNS = { metadata: 'NULL', images: 'NULL', tags: `'[]'`, summary: `''` } as const

/** Names of the columns that can be large. */
const LARGE_NAMES = Object.keys(LARGE_COLUMNS)
export const AUXILIARY_COLUMNS = sql.raw(columns(LARGE_NAMES))

/** Columns of an entry, without the text, of which previews read only the start. */
export const ENTRY_NAMES: readonly string[] = [...PLAIN_NAMES, ...LARGE_NAMES]
export const ENTRY_COLUMNS = sql.raw(columns(ENTRY_NAMES))

/** Compares a column with a version. PostgreSQL would bind the number as an `integer`, and refuse values beyond 2³¹. */
export const isVersion = (column: SQL, version: number): SQL => sql`${column} = CAST(${version} AS bigint)`

/** Returns the columns of an entry; those that can be large only if a condition holds. */
export const entryColumnsWhere = (condition: SQL): SQL =>
  sql.join(
    [
      sql.raw(PLAIN),
      ...Object.entries(LARGE_COLUMNS).map(
        ([name, nothing]) =>
          sql`CASE WHEN ${condition} THEN e.${sql.raw(name)} ELSE ${sql.raw(nothing)} END AS ${sql.raw(name)}`,
      ),
    ],
    sql`, `,
  )

/** Returns the approximate bytes of the large columns. */
export const largeColumnBytes = (dialect: Pick<SqlDialect, 'byteLength'>): SQL =>
  sql`(coalesce(${dialect.byteLength(sql`e.metadata`)}, 0) + coalesce(length(e.images), 0) + length(e.tags) + length(e.summary))`

export const sourceOf = oneOf(SOURCES)
export const kindOf = oneOf(KINDS)

/** Returns the layer of a row. @throws Error for an unknown layer */
export function layerOf(row: Row): Layer {
  const layer = Number(row.layer)
  if (layer !== 1 && layer !== 2 && layer !== 3) throw new Error('column layer has an unknown layer')
  return layer
}

/** Returns the entry that supersedes it, if it was requested and exists. */
export function successorOf(row: Row): { readonly supersededBy?: number } {
  const supersededBy = numOrNull(row, 'superseded_by')
  return supersededBy === null ? {} : { supersededBy }
}

export function toEntry(row: Row): Entry {
  const metadata = jsonOrNull<Metadata>(row, 'metadata')
  // A retained version has no such column, only its metadata.
  const captured = row.captured === null || row.captured === undefined ? isCaptured(metadata) : flag(row, 'captured')
  return {
    id: num(row, 'id'),
    threadId: str(row, 'thread_id'),
    source: sourceOf(row, 'source'),
    kind: kindOf(row, 'kind'),
    layer: layerOf(row),
    title: strOrNull(row, 'title'),
    project: strOrNull(row, 'project'),
    agent: strOrNull(row, 'agent'),
    archived: Boolean(row.archived) && !captured,
    captured,
    ...successorOf(row),
    reader: str(row, 'reader'),
    owner: strOrNull(row, 'owner'),
    createdBy: str(row, 'created_by'),
    importedFrom: strOrNull(row, 'imported_from'),
    approved: row.approved_version !== null && Number(row.approved_version) === num(row, 'version'),
    changedBy: strOrNull(row, 'changed_by'),
    changedAgent: strOrNull(row, 'changed_agent'),
    version: num(row, 'version'),
    createdAt: num(row, 'created_at'),
    updatedAt: num(row, 'updated_at'),
    textHash: str(row, 'text_hash'),
    summary: str(row, 'summary'),
    metadata,
    tags: json<string[]>(row, 'tags'),
    images: row.images === null ? [] : json<ImageRef[]>(row, 'images'),
    // NULL for a text that is too large to be read.
    text: strOrNull(row, 'text') ?? '',
  }
}

/**
 * Converts rows by parsing their JSON, as `toEntry` does; yields in between, since a result has megabytes.
 *
 * @param one reads a row
 */
export async function readRows<T>(rows: readonly Row[], one: (row: Row) => T): Promise<T[]> {
  const read: T[] = []
  for (const row of rows) {
    read.push(one(row))
    await scheduler.tick(lengthOf(row.metadata) / JSON_UNITS)
  }
  return read
}

/** Returns the entries that fit into a result, and the IDs of the others, whose rows have only `wanted_id`. */
export const readWithin = async (rows: readonly Row[]): Promise<{ entries: Entry[]; omitted: number[] }> => ({
  entries: await readRows(
    rows.filter(({ id }) => id !== null),
    toEntry,
  ),
  omitted: rows.filter(({ id }) => id === null).map((row) => num(row, 'wanted_id')),
})

const lengthOf = (json: unknown): number => (typeof json === 'string' ? json.length : 0)

export const toThread = (row: Row): ThreadSummary => ({
  threadId: str(row, 'thread_id'),
  entries: num(row, 'entries'),
  sources: Number(num(row, 'user_entries') > 0) + Number(num(row, 'user_entries') < num(row, 'entries')),
  multimodal: num(row, 'multimodal'),
  firstSecond: num(row, 'first_second'),
  lastSecond: num(row, 'last_second'),
  lastId: num(row, 'last_id'),
})
