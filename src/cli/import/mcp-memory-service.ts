// Reads mcp-memory-service: its sqlite_vec database (docs/import/mcp-memory-service.md). Its vec0 table is never read.
import { type JsonObject, own } from '../../domain/entry/metadata'
import { Collector, type Found } from './collector'
import { kindOf } from './kinds'
import { related, withId, withSuperseded } from './links'
import type { Row } from './sqlite'
import { SqliteFile } from './sqlite'
import { objectIn, RowProblem, stringsIn, textOf, timeOfNumber, timeOfText } from './values'

/** Metadata keys that the program writes for itself. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'access_count',
  'last_accessed_at',
  'access_queries',
  'quality_score',
  'computed_quality',
  'quality_provider',
  'quality_components',
  'rating_history',
  'user_rating_timestamp',
  'relevance_score',
  'relevance_calculated_at',
  'decay_factor',
  'connection_boost',
  'access_boost',
  'last_consolidated_at',
])

/** Relations that the program stores as two edges, one in each direction (its storage/graph.py); the others have a direction. */
const SYMMETRIC: ReadonlySet<string> = new Set(['related', 'contradicts'])

export async function readMemoryService(file: string): Promise<Collector> {
  const collector = new Collector()
  await SqliteFile.read(file, (database) => {
    database.need('memories', 'mcp-memory-service')
    const heirs: Heir[] = []
    for (const row of database.rows('memories')) {
      const where = `memories id ${row.shown('id')}`
      if (row.value('deleted_at') !== null) collector.skip('deleted memories')
      else if (/^assoc_/.test(row.shown('content_hash')))
        collector.skip('associations that the program found by itself')
      else
        collector.take(where, () => {
          const found = memoryOf(collector, row)
          const [parent, heir] = [row.text('parent_id'), row.text('superseded_by')]
          if (parent !== null) heirs.push({ where, from: String(found.id), to: parent })
          if (heir !== null) heirs.push({ where, from: heir, to: String(found.id) })
          return found
        })
    }
    supersede(collector, heirs)
    if (database.hasTable('memory_graph')) relate(collector, database.rows('memory_graph'))
  })
  return withSuperseded(collector)
}

function memoryOf(collector: Collector, row: Row): Omit<Found, 'where'> {
  const hash = row.text('content_hash')
  const text = row.text('content')
  if (hash === null) throw new RowProblem('has no content_hash')
  if (text === null || text.trim() === '') throw new RowProblem('content is empty')
  const given = objectIn(row.text('metadata'), 'metadata') ?? {}
  const createdAt = timeOf(row, 'created_at')
  if (createdAt === null) throw new RowProblem('has neither created_at nor created_at_iso')
  const kept = Object.entries(given).filter(([key]) => !BOOKKEEPING.has(key))
  for (let i = kept.length; i < Object.keys(given).length; i++) collector.skip('bookkeeping keys of metadata')
  const tags = (row.text('tags') ?? '').split(',').map((tag) => tag.trim())
  const store = row.has('store') ? row.text('store') : null
  const session = tags.find((tag) => /^session:./.test(tag))?.slice('session:'.length)
  const metadata: JsonObject = { ...Object.fromEntries(kept), ...kindOf(row.text('memory_type')) }
  return {
    id: hash,
    threadId: textOf(own(given, 'conversation_id')) ?? session ?? 'mcp-memory-service',
    source: 'agent',
    text,
    metadata,
    tags: store === null || store === 'default' ? tags : [...tags, store],
    createdAt,
    updatedAt: timeOf(row, 'updated_at') ?? createdAt,
  }
}

/** Returns the seconds in the column, else the text of the `…_iso` column; null where both are NULL. @throws RowProblem */
function timeOf(row: Row, name: 'created_at' | 'updated_at'): number | null {
  const seconds = row.value(name)
  if (seconds !== null) return timeOfNumber(seconds, 's', name)
  const iso = `${name}_iso`
  const text = row.has(iso) ? row.value(iso) : null
  return text === null || text === '' ? null : timeOfText(text, iso)
}

/** `from` supersedes `to`; both are hashes. */
interface Heir {
  readonly where: string
  readonly from: string
  readonly to: string
}

function supersede(collector: Collector, heirs: readonly Heir[]): void {
  const at = new Map(collector.entries.map(({ id }, i) => [String(id), i]))
  for (const { where, from, to } of heirs) {
    const place = at.get(from)
    const found = place === undefined ? undefined : collector.entries[place]
    if (place === undefined || found === undefined || !at.has(to)) {
      const absent = found === undefined ? from : to
      collector.note(where, `its other version ${absent.slice(0, 12)}… is not in the import`)
      continue
    }
    collector.entries[place] = { ...found, metadata: withId(found.metadata ?? {}, 'supersedes', to) }
  }
}

/** Adds edges between two memories, each once; the label is stored in metadata, since the program chose it. */
function relate(collector: Collector, edges: Iterable<Row>): void {
  const at = new Map(collector.entries.map(({ id }, i) => [String(id), i]))
  const met = new Set<string>()
  let number = 0
  for (const row of edges) {
    const where = `memory_graph row ${++number}`
    try {
      const [from, to] = [row.text('source_hash') ?? '', row.text('target_hash') ?? '']
      const type = row.text('relationship_type') ?? 'related'
      const connections = stringsIn(row.text('connection_types'), 'connection_types')
      if (type === 'has_entity' || connections.includes('has_entity')) {
        collector.skip('edges to entities')
        continue
      }
      const place = at.get(from)
      const found = place === undefined ? undefined : collector.entries[place]
      const key = [type, ...(SYMMETRIC.has(type) ? [from, to].sort() : [from, to])].join(' ')
      if (place === undefined || found === undefined || !at.has(to)) collector.skip('edges to what is not imported')
      else if (met.has(key)) collector.skip('edges that repeat another one in reverse')
      else collector.entries[place] = { ...found, metadata: related(found.metadata ?? {}, type, to) }
      met.add(key)
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      collector.refuse(where, error.message)
    }
  }
}
