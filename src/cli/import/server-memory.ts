// Reads @modelcontextprotocol/server-memory: its JSONL file of entities and relations (docs/import/server-memory.md).
import { statSync } from 'node:fs'
import { checkThreadId } from '../../domain/entry/draft'
import { type JsonObject, type JsonValue, own } from '../../domain/entry/metadata'
import { Problem } from '../../domain/errors'
import { Collector } from './collector'
import { checkFile, linesOfFile, readText } from './files'
import { isJsonObject, parseJson, RowProblem, shown, stringsIn } from './values'

/** The thread of entities without a type. */
const GRAPH = 'knowledge graph'

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
  for (const { where, item } of graphIn(file) ?? itemsByLine(file)) {
    try {
      const read = itemOf(item(), where)
      if ('observations' in read) {
        if (entities.has(read.name)) throw new RowProblem(`the entity ${shown(read.name)} occurs twice`)
        entities.set(read.name, read)
      } else relations.push(read)
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      collector.refuse(where, error.message)
    }
  }
  const out = relationsOf(collector, entities, relations)
  if (entities.size > 0) collector.note(file, 'has no times: each memory gets the time of the file')
  for (const entity of entities.values())
    collector.take(entity.where, () => ({
      id: entity.name,
      threadId: threadOf(collector, entity),
      source: 'agent',
      text: [entity.name, ...entity.observations].join('\n'),
      metadata: metadataOf(entity, out.get(entity.name) ?? []),
      tags: [entity.type],
      createdAt: at,
    }))
  return collector
}

/** An entity or a relation as the file holds it. */
interface Item {
  readonly where: string
  /** @throws RowProblem */
  readonly item: () => JsonValue
}

function* itemsByLine(file: string): Generator<Item> {
  for (const line of linesOfFile(file)) yield { where: `line ${line.number}`, item: () => parseJson(line.text(), 'it') }
}

/** Returns the items of a file with one answer of `read_graph`; null for a file of lines. */
function graphIn(file: string): Item[] | null {
  checkFile(file)
  const graph = graphOf(jsonOrNull(() => readText(file)))
  if (graph === null) return null
  return (
    [
      ['entity', 'entities'],
      ['relation', 'relations'],
    ] as const
  ).flatMap(([type, key]) => {
    const items = own(graph, key)
    return (Array.isArray(items) ? items : []).map((given, i) => ({
      where: `${type} ${i + 1}`,
      // In the answer of older releases items have the type of the file, in others they have none.
      item: () => (isJsonObject(given) ? { ...given, type } : given),
    }))
  })
}

/** Returns the graph in an answer: plain, as structured content, or as the text of a tool's result. */
function graphOf(answer: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(answer ?? null)) return null
  const object = answer as JsonObject
  if (Array.isArray(own(object, 'entities'))) return object
  const [content] = [own(object, 'content')].flat()
  const text = isJsonObject(content) ? own(content, 'text') : undefined
  return (
    graphOf(own(object, 'structuredContent')) ??
    graphOf(own(object, 'result')) ??
    (typeof text === 'string' ? graphOf(jsonOrNull(() => text)) : null)
  )
}

function jsonOrNull(text: () => string): JsonValue {
  try {
    return parseJson(text(), 'it')
  } catch (error) {
    if (error instanceof RowProblem) return null
    throw error
  }
}

/** Returns the type of an entity, if it is a valid thread name. */
function threadOf(collector: Collector, { where, type }: Entity): string {
  if (type.trim() === '') return GRAPH
  try {
    return checkThreadId(type)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    collector.note(where, `its entity type is too long for the name of a thread; its thread is "${GRAPH}"`)
    return GRAPH
  }
}

function itemOf(item: JsonValue, where: string): Entity | Relation {
  if (!isJsonObject(item)) throw new RowProblem('it is not a JSON object')
  const word = (key: string): string => {
    const value = Object.hasOwn(item, key) ? item[key] : undefined
    if (typeof value !== 'string') throw new RowProblem(`it has no ${key}`)
    return value
  }
  if (item.type === 'relation') return { where, from: word('from'), to: word('to'), type: word('relationType') }
  if (item.type !== 'entity') throw new RowProblem(`its type ${shown(item.type)} is neither entity nor relation`)
  if (!Array.isArray(item.observations)) throw new RowProblem('its observations are not a list')
  const name = word('name')
  // The program allows an empty name; as an id it would mean none.
  if (name === '') throw new RowProblem('its name is empty')
  return { where, name, type: word('entityType'), observations: stringsIn(item.observations, 'observations') }
}

/** Groups relations by the entity they start from; dangling ones and self-references are reported. */
function relationsOf(
  collector: Collector,
  entities: ReadonlyMap<string, Entity>,
  relations: readonly Relation[],
): Map<string, Relation[]> {
  const out = new Map<string, Relation[]>()
  for (const relation of relations) {
    const { where, from, to, type } = relation
    const missing = [from, to].find((name) => !entities.has(name))
    if (missing !== undefined)
      collector.refuse(where, `the relation "${type}" points to an unknown entity: ${shown(missing)}`)
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
