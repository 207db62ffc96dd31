// @modelcontextprotocol/server-memory: its JSONL file of entities and relations (docs/import/server-memory.md).
import { statSync } from 'node:fs'
import type { JsonObject } from '../../domain/entry/metadata'
import { Collector } from './collector'
import { linesOfFile, type TextLine } from './files'
import { isJsonObject, parseJson, RowProblem, shown, stringsIn } from './values'

interface Entity {
  readonly where: string
  readonly name: string
  readonly type: string
  readonly observations: readonly string[]
}

interface Relation {
  readonly where: string
  readonly from: string
  readonly to: string
  readonly type: string
}

export async function readServerMemory(file: string): Promise<Collector> {
  const collector = new Collector()
  const at = Math.floor(statSync(file).mtimeMs)
  const entities = new Map<string, Entity>()
  const relations: Relation[] = []
  for (const line of linesOfFile(file)) {
    const where = `line ${line.number}`
    try {
      const read = itemOf(line, where)
      if ('observations' in read) {
        if (entities.has(read.name)) throw new RowProblem(`the entity ${shown(read.name)} was there before`)
        entities.set(read.name, read)
      } else relations.push(read)
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      collector.refuse(where, error.message)
    }
  }
  const out = relationsOf(collector, entities, relations)
  if (entities.size > 0) collector.note(file, 'holds no times: each memory gets the time of the file')
  for (const entity of entities.values())
    collector.take(entity.where, () => ({
      id: entity.name,
      threadId: entity.type.trim() === '' ? 'knowledge graph' : entity.type,
      source: 'agent',
      text: [entity.name, ...entity.observations].join('\n'),
      metadata: metadataOf(entity, out.get(entity.name) ?? []),
      tags: [entity.type],
      createdAt: at,
    }))
  return collector
}

function itemOf(line: TextLine, where: string): Entity | Relation {
  const item = parseJson(line.text(), 'it')
  if (!isJsonObject(item)) throw new RowProblem('it is no JSON object')
  const word = (key: string): string => {
    const value = Object.hasOwn(item, key) ? item[key] : undefined
    if (typeof value !== 'string') throw new RowProblem(`it has no ${key}`)
    return value
  }
  if (item.type === 'relation') return { where, from: word('from'), to: word('to'), type: word('relationType') }
  if (item.type !== 'entity') throw new RowProblem(`its type ${shown(item.type)} is neither entity nor relation`)
  if (!Array.isArray(item.observations)) throw new RowProblem('its observations are no list')
  const name = word('name')
  // An empty name is one as good as any other to the program; as an id it cannot be told from none.
  if (name === '') throw new RowProblem('its name is empty')
  return { where, name, type: word('entityType'), observations: stringsIn(item.observations, 'observations') }
}

/** Relations by the entity they start from; those that lead nowhere or to themselves are told. */
function relationsOf(
  collector: Collector,
  entities: ReadonlyMap<string, Entity>,
  relations: readonly Relation[],
): Map<string, Relation[]> {
  const out = new Map<string, Relation[]>()
  for (const relation of relations) {
    const { where, from, to, type } = relation
    const missing = [from, to].find((name) => !entities.has(name))
    if (missing !== undefined) collector.refuse(where, `the relation "${type}" leads to no entity: ${shown(missing)}`)
    else if (from === to) collector.refuse(where, `the relation "${type}" leads from ${shown(from)} to itself`)
    else out.set(from, [...(out.get(from) ?? []), relation])
  }
  return out
}

function metadataOf({ name, type }: Entity, relations: readonly Relation[]): JsonObject {
  return {
    kind: 'topic',
    title: name,
    entity_type: type,
    ...(relations.length === 0
      ? {}
      : {
          relations: relations.map((relation) => ({ type: relation.type, to: relation.to })),
          references: { context_ids: [...new Set(relations.map(({ to }) => to))] },
        }),
  }
}
