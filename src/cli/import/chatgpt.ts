// Reads ChatGPT: conversations.json of a data export, the path from the root to the current node (docs/import/chats.md).

import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type JsonObject, type JsonValue, own } from '../../domain/entry/metadata'
import { Collector, type Found } from './collector'
import { readText } from './files'
import { isJsonObject, parseJson, RowProblem, SourceProblem, shown, textOf, timeOfNumber } from './values'

/**
 * Reads the lists of chats in a file, or in the matching files of a folder. If one of several cannot be read, only that one is refused.
 *
 * @throws SourceProblem
 */
export function* chatFiles(
  collector: Collector,
  path: string,
  named: RegExp,
): Generator<{ file: string; chats: readonly JsonValue[] }> {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => named.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path]
  if (files.length === 0) throw new SourceProblem(`${path} has no conversations.json; unpack the export first`)
  for (const file of files) {
    try {
      yield { file, chats: listIn(file) }
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      if (files.length === 1) throw new SourceProblem(`${file} cannot be read: ${error.message}; nothing was imported`)
      collector.refuse(basename(file), `${error.message}; nothing of this file was imported`)
    }
  }
}

/** @throws RowProblem */
function listIn(file: string): readonly JsonValue[] {
  const chats = parseJson(readText(file), 'it')
  if (!Array.isArray(chats)) throw new RowProblem('it is not a list of chats')
  return chats
}

export async function readChatGpt(path: string): Promise<Collector> {
  const collector = new Collector()
  let number = 0
  for (const { chats } of chatFiles(collector, path, /^conversations(-\d+)?\.json$/))
    for (const chat of chats) {
      const where = `chat ${++number}`
      try {
        if (!isJsonObject(chat)) throw new RowProblem('is not a JSON object')
        takeChat(collector, where, chat)
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error
        collector.refuse(where, error.message)
      }
    }
  return collector
}

function takeChat(collector: Collector, where: string, chat: JsonObject): void {
  const id = textOf(own(chat, 'conversation_id')) ?? textOf(own(chat, 'id'))
  if (id === null) throw new RowProblem('has no id')
  const title = textOf(own(chat, 'title'))
  let before = timeOrNull(collector, where, chat, 'create_time') ?? timeOrNull(collector, where, chat, 'update_time')
  for (const node of wayOf(chat)) {
    const message = own(node, 'message')
    if (!isJsonObject(message)) continue
    const name = `${where}, message ${textOf(own(node, 'id')) ?? textOf(own(message, 'id')) ?? '?'}`
    if (isHidden(message)) {
      collector.skip('hidden messages')
      continue
    }
    collector.take(name, () => {
      const found = messageOf(collector, name, id, title, message, before)
      if (found !== null) before = found.createdAt
      return found
    })
  }
}

function timeOrNull(collector: Collector, where: string, chat: JsonObject, name: string): number | null {
  const value = own(chat, name) ?? null
  if (value === null) return null
  try {
    return timeOfNumber(value, 's', name)
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error
    collector.note(where, error.message)
    return null
  }
}

/** Returns the path from the root to the current node; earlier edits are not on it. @throws RowProblem */
function wayOf(chat: JsonObject): JsonObject[] {
  const mapping = own(chat, 'mapping')
  if (!isJsonObject(mapping)) throw new RowProblem('has no mapping')
  const way: JsonObject[] = []
  const met = new Set<string>()
  for (let id = textOf(own(chat, 'current_node')); id !== null; ) {
    if (met.has(id)) throw new RowProblem('its messages form a cycle')
    met.add(id)
    const node = own(mapping, id)
    if (!isJsonObject(node)) throw new RowProblem(`the node ${shown(id)} does not exist`)
    way.unshift(node)
    id = textOf(own(node, 'parent'))
  }
  if (way.length === 0) throw new RowProblem('has no current_node')
  return way
}

function isHidden(message: JsonObject): boolean {
  const metadata = own(message, 'metadata')
  return (
    roleOf(message) === 'system' ||
    (isJsonObject(metadata) && own(metadata, 'is_visually_hidden_from_conversation') === true)
  )
}

const roleOf = (message: JsonObject): string | null => {
  const author = own(message, 'author')
  return isJsonObject(author) ? textOf(own(author, 'role')) : null
}

function messageOf(
  collector: Collector,
  name: string,
  conversation: string,
  title: string | null,
  message: JsonObject,
  before: number | null,
): Omit<Found, 'where'> | null {
  const id = textOf(own(message, 'id'))
  const role = roleOf(message)
  if (id === null) throw new RowProblem('has no id')
  if (role !== 'user' && role !== 'assistant' && role !== 'tool')
    throw new RowProblem(`is of an unknown sender: ${shown(role)}`)
  const { text, pictures } = contentOf(message)
  if (pictures.length > 0) collector.note(name, `${pictures.length} image(s) without bytes in the export`)
  if (text.trim() === '') {
    collector.skip('messages without text')
    return null
  }
  const timed = ['create_time', 'update_time'].find((key) => (own(message, key) ?? null) !== null)
  const createdAt = timed === undefined ? before : timeOfNumber(own(message, timed), 's', timed)
  if (createdAt === null) throw new RowProblem('has no time, and none before it')
  if (timed === undefined) collector.note(name, 'has no time: it gets that of the message before, or of its chat')
  const metadata: JsonObject = {
    ...(title === null ? {} : { title }),
    ...(role === 'tool' ? { role } : {}),
    ...(pictures.length === 0 ? {} : { image_pointers: pictures }),
  }
  return { id, threadId: conversation, source: role === 'user' ? 'user' : 'agent', text, metadata, createdAt }
}

/** Returns the text of a message: its parts, or code and its output. */
function contentOf(message: JsonObject): { readonly text: string; readonly pictures: string[] } {
  const content = own(message, 'content')
  if (!isJsonObject(content)) return { text: '', pictures: [] }
  const parts = own(content, 'parts')
  if (!Array.isArray(parts)) return { text: textOf(own(content, 'text')) ?? '', pictures: [] }
  const texts = parts.flatMap((part) => {
    const text = isJsonObject(part) ? own(part, 'text') : part
    return typeof text === 'string' && text !== '' ? [text] : []
  })
  const pictures = parts.flatMap((part) => (isJsonObject(part) ? (textOf(own(part, 'asset_pointer')) ?? []) : []))
  return { text: texts.join('\n'), pictures }
}
