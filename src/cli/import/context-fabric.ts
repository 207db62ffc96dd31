// Reads Context Fabric: memory.db (layer 2), semantic.db (layer 3), their folder, or JSONL of context.export.
// See docs/import/context-fabric.md.

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonObject, own } from '../../domain/entry/metadata'
import type { Millis } from '../../domain/time'
import { Collector, type Found } from './collector'
import { linesOfFile } from './files'
import { kindOf } from './kinds'
import { withId } from './links'
import { type Row, SqliteFile } from './sqlite'
import { isJsonObject, objectIn, parseJson, RowProblem, SourceProblem, stringsIn, textOf, timeOfNumber } from './values'

/** Converts a memory of any source format. */
export interface Memory {
  readonly id: string
  readonly layer: 2 | 3
  readonly type: string
  readonly content: string
  readonly metadata: JsonObject
  readonly tags: readonly string[]
  readonly createdAt: Millis
  readonly updatedAt: Millis
  readonly accessedAt: Millis | null
  readonly accessCount: number
  readonly pinned: boolean
  readonly supersedes: string | null
  readonly supersededBy: string | null
}

export function memoryOf(row: Row, layer: 2 | 3): Memory {
  const id = row.text('id')
  const content = row.text('content')
  if (id === null) throw new RowProblem('has no id')
  if (content === null) throw new RowProblem('content is empty')
  const accessed = row.number(layer === 3 ? 'accessed_at' : 'last_accessed_at')
  const createdAt = timeOfNumber(row.value('created_at'), 'ms', 'created_at')
  return {
    id,
    layer,
    type: row.text('type') ?? '',
    content,
    metadata: objectIn(row.text('metadata'), 'metadata') ?? {},
    tags: stringsIn(row.text('tags'), 'tags'),
    createdAt,
    updatedAt:
      row.number('updated_at') === null ? createdAt : timeOfNumber(row.value('updated_at'), 'ms', 'updated_at'),
    accessedAt: accessed === null ? null : timeOfNumber(accessed, 'ms', 'accessed_at'),
    accessCount: row.number('access_count') ?? 0,
    pinned: row.number('pinned') === 1,
    supersedes: row.text('supersedes_id'),
    supersededBy: row.text('superseded_by_id'),
  }
}

function exportedOf(item: JsonObject): Memory {
  const id = textOf(own(item, 'id'))
  const content = textOf(own(item, 'content'))
  if (id === null) throw new RowProblem('it has no id')
  if (content === null) throw new RowProblem('it has no content')
  const { temporal, ...metadata } = objectIn(own(item, 'metadata'), 'metadata') ?? {}
  const supersession = isJsonObject(temporal) ? temporal : {}
  const createdAt = timeOfNumber(own(item, 'createdAt'), 'ms', 'createdAt')
  const updated = own(item, 'updatedAt')
  return {
    id,
    layer: item.layer === 3 ? 3 : 2,
    type: textOf(own(item, 'type')) ?? '',
    content,
    metadata,
    tags: stringsIn(own(item, 'tags'), 'tags'),
    createdAt,
    updatedAt: updated === undefined || updated === null ? createdAt : timeOfNumber(updated, 'ms', 'updatedAt'),
    accessedAt: null,
    accessCount: typeof item.accessCount === 'number' ? item.accessCount : 0,
    pinned: item.pinned === true,
    supersedes: textOf(supersession.supersedesId),
    supersededBy: textOf(supersession.supersededById),
  }
}

/** Paths of the program's two files in the folder that the user names. */
const FILES = [
  'memory.db',
  'semantic.db',
  'l2-project.db',
  'l2-project.db/memory.db',
  'l3-semantic/semantic.db',
  '.context-fabric/l2-project.db/memory.db',
  '.context-fabric/l3-semantic/semantic.db',
]

export async function readContextFabric(path: string): Promise<Collector> {
  const collector = new Collector()
  const links: Link[] = []
  const isFolder = statSync(path).isDirectory()
  const files = isFolder ? FILES.map((name) => join(path, name)).filter(isFile) : [path]
  if (files.length === 0) throw new SourceProblem(`${path} has neither memory.db nor semantic.db`)
  for (const file of files) {
    if (/\.jsonl$/.test(file)) readExport(collector, links, file)
    else await readDatabase(collector, links, file)
  }
  return withLinks(collector, links)
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

interface Link {
  readonly where: string
  readonly from: string
  readonly to: string
  readonly relation: 'references' | 'supersedes'
}

async function readDatabase(collector: Collector, links: Link[], file: string): Promise<void> {
  await SqliteFile.read(file, (database) => {
    const isSemantic = database.hasTable('semantic_memories')
    if (!isSemantic) database.need('memories', 'Context Fabric')
    const table = isSemantic ? 'semantic_memories' : 'memories'
    for (const row of database.rows(table)) {
      const where = `${table} id ${row.shown('id')}`
      collector.take(where, () => {
        const memory = memoryOf(row, isSemantic ? 3 : 2)
        links.push(...linksOf(where, memory))
        return entryOf(memory)
      })
    }
  })
}

function readExport(collector: Collector, links: Link[], file: string): void {
  for (const line of linesOfFile(file)) {
    const where = `line ${line.number}`
    collector.take(where, () => {
      const item = parseJson(line.text(), 'it')
      if (!isJsonObject(item)) throw new RowProblem('it is not a JSON object')
      const memory = exportedOf(item)
      links.push(...linksOf(where, memory))
      return entryOf(memory)
    })
  }
}

function linksOf(where: string, { id, metadata, supersedes, supersededBy }: Memory): Link[] {
  const related = own(metadata, 'relationships')
  const named = (Array.isArray(related) ? related : []).flatMap((one) => {
    const to = isJsonObject(one) ? textOf(one.toMemoryId) : null
    return to === null ? [] : [{ where, from: id, to, relation: 'references' as const }]
  })
  return [
    ...named,
    ...(supersedes === null ? [] : [{ where, from: id, to: supersedes, relation: 'supersedes' as const }]),
    ...(supersededBy === null ? [] : [{ where, from: supersededBy, to: id, relation: 'supersedes' as const }]),
  ]
}

function entryOf(memory: Memory): Omit<Found, 'where'> {
  const { projectPath, tags, relationships, ...rest } = memory.metadata
  const project = textOf(projectPath)
  const hasLinks = Array.isArray(relationships) && relationships.length > 0
  return {
    id: memory.id,
    threadId: `project:${project ?? ''}`,
    source: own(rest, 'source') === 'user_explicit' ? 'user' : 'agent',
    text: memory.content,
    metadata: {
      ...rest,
      ...kindOf(memory.type),
      ...(project === null ? {} : { project }),
      ...(hasLinks ? { relationships } : {}),
    },
    tags: memory.tags,
    layer: memory.layer,
    pinned: memory.pinned,
    createdAt: memory.createdAt,
    updatedAt: memory.updatedAt,
    accessedAt: memory.accessedAt,
    accessCount: memory.accessCount,
  }
}

/** Converts links to the keys of metadata that hold ids; links to entries outside of the import are reported. */
function withLinks(collector: Collector, links: readonly Link[]): Collector {
  const at = new Map(collector.entries.map(({ id }, i) => [String(id), i]))
  const missing = new Set<string>()
  for (const { where, from, to, relation } of links) {
    const place = at.get(from)
    const found = place === undefined ? undefined : collector.entries[place]
    const absent = found === undefined ? from : at.has(to) ? null : to
    if (absent !== null || found === undefined || place === undefined) {
      if (!missing.has(`${where} ${absent}`))
        collector.note(where, `its link (${relation}) points to ${absent}, which is not in the import`)
      missing.add(`${where} ${absent}`)
      continue
    }
    const metadata = found.metadata ?? {}
    const references = own(metadata, 'references')
    const linked =
      relation === 'supersedes'
        ? withId(metadata, 'supersedes', to)
        : { ...metadata, references: withId(isJsonObject(references) ? references : {}, 'context_ids', to) }
    collector.entries[place] = { ...found, metadata: relation === 'supersedes' ? linked : listed(linked) }
  }
  return collector
}

/** `context_ids` is a list even if it has one id. */
function listed(metadata: JsonObject): JsonObject {
  const references = own(metadata, 'references')
  if (!isJsonObject(references) || Array.isArray(references.context_ids)) return metadata
  return { ...metadata, references: { ...references, context_ids: [references.context_ids ?? null] } }
}
