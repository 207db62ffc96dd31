// Reads NDJSON: one object with store_context's arguments per line, plus created_at and id (docs/import/ndjson.md).
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { type JsonObject, own } from '../../domain/entry/metadata'
import { Collector, type Found, type FoundImage } from './collector'
import { linesOfFile } from './files'
import { isJsonObject, objectIn, parseJson, RowProblem, shown, stringsIn, timeOfText } from './values'

const KNOWN = ['id', 'thread_id', 'source', 'text', 'tags', 'metadata', 'images', 'created_at', 'updated_at', 'summary']

export async function readNdjson(file: string): Promise<Collector> {
  const collector = new Collector()
  const at = Math.floor(statSync(file).mtimeMs)
  const met = new Map<string, number>()
  let withoutTime = 0
  for (const line of linesOfFile(file))
    collector.take(`line ${line.number}`, () => {
      const item = parseJson(line.text(), 'it')
      if (!isJsonObject(item)) throw new RowProblem('it is not a JSON object')
      const found = entryOf(item, at)
      if (own(item, 'created_at') === undefined) withoutTime++
      if (own(item, 'id') !== undefined) return found
      // Without an id a line is recognized by its content; the same content twice gives two entries.
      const count = (met.get(String(found.id)) ?? 0) + 1
      met.set(String(found.id), count)
      return count === 1 ? found : { ...found, id: `${found.id}-${count}` }
    })
  if (withoutTime > 0) collector.note(file, `${withoutTime} lines have no created_at: they get the time of the file`)
  return collector
}

function entryOf(item: JsonObject, at: number): Omit<Found, 'where'> {
  const word = (key: string): string => {
    const value = own(item, key)
    if (typeof value !== 'string') throw new RowProblem(`it has no ${key}`)
    return value
  }
  const unknown = Object.keys(item).find((key) => !KNOWN.includes(key))
  if (unknown !== undefined) throw new RowProblem(`it has the unknown member ${shown(unknown)}`)
  const source = word('source')
  if (source !== 'user' && source !== 'agent') throw new RowProblem(`source is ${shown(source)}, not user or agent`)
  const given = own(item, 'metadata')
  if (typeof given === 'string') throw new RowProblem('metadata is not a JSON object')
  if (typeof own(item, 'tags') === 'string') throw new RowProblem('tags are not a list of strings')
  const created = own(item, 'created_at')
  const updated = own(item, 'updated_at')
  const id = own(item, 'id')
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') throw new RowProblem('id is not a string')
  const createdAt = created === undefined || created === null ? at : timeOfText(created, 'created_at')
  const said = [word('thread_id'), source, word('text'), String(created ?? '')]
  return {
    id: id ?? createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 32),
    threadId: word('thread_id'),
    source,
    text: word('text'),
    metadata: objectIn(given, 'metadata'),
    tags: stringsIn(own(item, 'tags'), 'tags'),
    images: imagesOf(item),
    summary: typeof item.summary === 'string' ? item.summary : null,
    createdAt,
    updatedAt: updated === undefined || updated === null ? createdAt : timeOfText(updated, 'updated_at'),
  }
}

function imagesOf(item: JsonObject): FoundImage[] {
  const images = own(item, 'images') ?? []
  if (!Array.isArray(images)) throw new RowProblem('images are not a list')
  return images.map((image) => {
    const data = isJsonObject(image) ? own(image, 'data') : undefined
    if (!isJsonObject(image) || typeof data !== 'string') throw new RowProblem('an image has no data')
    const metadata = own(image, 'metadata')
    return {
      bytes: Buffer.from(data, 'base64'),
      mimeType: String(own(image, 'mime_type') ?? ''),
      ...(typeof metadata === 'string' || isJsonObject(metadata) ? { metadata } : {}),
    }
  })
}
