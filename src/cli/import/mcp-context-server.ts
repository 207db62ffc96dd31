// Reads MCP Context Server 1–3: its SQLite file, or a dump of its PostgreSQL database (docs/import/mcp-context-server.md).
import type { RecordId } from '../../domain/transfer/records'
import { Collector, type Found, type FoundImage } from './collector'
import { withSuperseded } from './links'
import { readDump } from './pg-dump'
import type { Row } from './sqlite'
import { SqliteFile } from './sqlite'
import { isJsonObject, objectIn, parseJson, RowProblem, SourceProblem, timeOfText } from './values'

const TABLES = ['context_entries', 'tags', 'image_attachments']

/** The three tables, from either database. */
interface Tables {
  rows(table: string): Iterable<Row>
}

export async function readSqlite(file: string): Promise<Collector> {
  return SqliteFile.read(file, (database) => {
    database.need('context_entries', 'MCP Context Server')
    const there = TABLES.filter((table) => database.hasTable(table))
    return collect({ rows: (table) => (there.includes(table) ? database.rows(table) : []) })
  })
}

export async function readPgDump(file: string): Promise<Collector> {
  const problems: { where: string; message: string }[] = []
  const tables = readDump(file, TABLES, (where, message) => problems.push({ where, message }))
  if (!tables.has('context_entries')) throw new SourceProblem(`${file} has no rows of context_entries`)
  const collector = collect({ rows: (table) => tables.get(table) ?? [] })
  for (const { where, message } of problems) collector.refuse(where, message)
  return collector
}

function collect(tables: Tables): Collector {
  const collector = new Collector()
  const entries = [...tables.rows('context_entries')]
  const ids = new Set(entries.map((row) => row.shown('id')))
  const tags = beside(collector, tables, 'tags', ids, (row) => row.text('tag'))
  const images = beside(collector, tables, 'image_attachments', ids, imageOf)
  for (const row of entries) {
    const id = row.shown('id')
    collector.take(`context_entries id ${id}`, () => entryOf(row, tags.get(id) ?? [], images.get(id) ?? []))
  }
  return withSuperseded(collector)
}

/** Attaches tags and images to entries; orphaned or broken rows are reported. */
function beside<T>(
  collector: Collector,
  tables: Tables,
  table: string,
  ids: ReadonlySet<string>,
  read: (row: Row) => T | null,
): Map<string, T[]> {
  const all = new Map<string, T[]>()
  for (const row of tables.rows(table)) {
    const where = `${table} id ${row.shown('id')}`
    const entry = row.shown('context_entry_id')
    try {
      if (!ids.has(entry)) throw new RowProblem(`belongs to the entry ${entry}, which does not exist`)
      const value = read(row)
      if (value !== null) all.set(entry, [...(all.get(entry) ?? []), value])
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      collector.note(where, error.message)
    }
  }
  return all
}

function imageOf(row: Row): FoundImage & { readonly position: number } {
  const bytes = row.value('image_data')
  if (!(bytes instanceof Uint8Array) || bytes.length === 0)
    throw new RowProblem(`has no bytes; entry ${row.shown('context_entry_id')} is imported without it`)
  // A JSON string of JSON in one release, plain JSON in others.
  const given = row.text('image_metadata')
  const once = given === null ? null : parseJson(given, 'image_metadata')
  const metadata = typeof once === 'string' && once !== '' ? parseJson(once, 'image_metadata') : once
  return {
    bytes,
    mimeType: row.text('mime_type') ?? '',
    position: row.number('position') ?? Number(row.text('position') ?? 0),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  }
}

/** Returns the text id of the unreleased layout, else the number. */
function idOf(row: Row): RecordId {
  const id = row.value('id')
  if (typeof id === 'number') return id
  if (typeof id === 'string' && id !== '') return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : id
  throw new RowProblem('has no id')
}

function entryOf(
  row: Row,
  tags: readonly string[],
  images: readonly (FoundImage & { readonly position: number })[],
): Omit<Found, 'where'> {
  const source = row.text('source')
  if (source !== 'user' && source !== 'agent') throw new RowProblem(`source is ${source}, not user or agent`)
  const text = row.text('text_content')
  if (text === null) throw new RowProblem('text_content is empty')
  const createdAt = timeOfText(row.text('created_at'), 'created_at')
  return {
    id: idOf(row),
    threadId: row.text('thread_id') ?? '',
    source,
    text,
    metadata: objectIn(row.text('metadata'), 'metadata'),
    tags,
    images: images.toSorted((a, b) => a.position - b.position).map(({ position, ...image }) => image),
    summary: row.has('summary') ? row.text('summary') : null,
    createdAt,
    updatedAt: row.text('updated_at') === null ? createdAt : timeOfText(row.text('updated_at'), 'updated_at'),
  }
}
