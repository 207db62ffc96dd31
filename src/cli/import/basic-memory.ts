// Reads basic-memory: the Markdown notes of a project folder (docs/import/basic-memory.md).
import { basename, resolve } from 'node:path'
import { type JsonObject, own } from '../../domain/entry/metadata'
import { parseInstant } from '../../domain/time'
import { Collector, type Found } from './collector'
import { decodeText, isUtf16, markdownBelow, readBytes, type TextFile } from './files'
import { readNote, withoutFences } from './front-matter'
import { kindOf } from './kinds'
import { related, withId } from './links'
import { textOf } from './values'

export async function readBasicMemory(path: string): Promise<Collector> {
  const collector = new Collector()
  const root = basename(resolve(path))
  const timeless = new Set<string>()
  for (const file of markdownBelow(collector, path, /\.md$/i))
    collector.take(file.name, () => {
      const found = noteOf(collector, file, root)
      if (found.createdAt === file.at) timeless.add(file.name)
      return found
    })
  const withoutTime = collector.entries.filter(({ where }) => timeless.has(where)).length
  if (withoutTime > 0) collector.note(path, `${withoutTime} notes have no time: they get the time of their file`)
  return linked(collector)
}

function noteOf(collector: Collector, file: TextFile, root: string): Omit<Found, 'where'> {
  const bytes = readBytes(file.path)
  if (isUtf16(bytes)) collector.note(file.name, 'is UTF-16, not the UTF-8 that the program writes')
  const { front, body } = readNote(decodeText(bytes).replaceAll('\r\n', '\n'))
  const { title, type, tags, created, modified, ...others } = front ?? {}
  const name = basename(file.name).replace(/\.md$/i, '')
  const named = title === undefined ? name : typeof title === 'string' ? title : title === null ? null : String(title)
  if (front === null) collector.note(file.name, 'has no front matter; its title is the name of the file')
  // Notes that the program writes end with a line break; its imported chats do not.
  if (type !== 'conversation' && !body.endsWith('\n'))
    collector.note(file.name, 'has no line break at its end: it may be cut')
  const createdAt = timeOf(collector, file, 'created', created)
  const folder = file.name.split('/').slice(0, -1).join('/')
  return {
    id: file.name,
    threadId: folder === '' ? root : folder,
    source: 'agent',
    text: withoutTitle(body, named),
    metadata: { ...others, ...kindOf(textOf(type)), ...(named === null ? {} : { title: named }) },
    tags: tagsOf(tags),
    createdAt: createdAt ?? file.at,
    updatedAt: timeOf(collector, file, 'modified', modified) ?? createdAt ?? file.at,
  }
}

/** Parses a time as `bm import` writes it, with or without a zone; null where there is none. */
function timeOf(collector: Collector, file: TextFile, name: string, value: unknown): number | null {
  if (value === undefined || value === null) return null
  const at = typeof value === 'string' ? parseInstant(value.trim()) : null
  if (at === null) collector.note(file.name, `its ${name} is not a time; it gets the time of the file`)
  else if (!/(Z|[+-]\d\d(:?\d\d)?)$/.test(String(value).trim().slice(10)))
    collector.note(file.name, `its ${name} has no zone and is read as UTC`)
  return at
}

const tagsOf = (tags: unknown): string[] =>
  (Array.isArray(tags) ? tags : typeof tags === 'string' ? tags.split(',') : []).map((tag) =>
    String(tag).replace(/^#/, ''),
  )

/** Returns the body without a first heading that repeats the title, as the program writes it (`None` for a missing title). */
function withoutTitle(body: string, title: string | null): string {
  const [, heading, rest] = /^\s*# ([^\n]*)\n(.*)$/s.exec(body) ?? []
  const isTitle = heading !== undefined && heading.trim() === (title ?? 'None').trim()
  return isTitle && rest !== undefined && rest.trim() !== '' ? rest : body
}

const WIKI = /\[\[([^[\]]*)\]\]/g
const RELATION = /^\s*[-*] (?!\[[^\]]*\] )([^[\]]+?)\s+\[\[([^[\]]+)\]\]/

interface Mention {
  readonly type: string
  readonly target: string
}

/** Returns the references of a note: relations by their word, other wiki links as such; nothing inside code. */
function mentionsOf(text: string): Mention[] {
  return withoutFences(text)
    .split('\n')
    .flatMap((line): Mention[] => {
      const [, type, target] = RELATION.exec(line) ?? []
      if (type !== undefined && target !== undefined) return [{ type: type.trim(), target }]
      return [...line.matchAll(WIKI)].map(([, name = '']) => ({ type: 'links to', target: name }))
    })
    .map(({ type, target }) => ({ type, target: (target.split('|')[0] ?? '').trim() }))
}

/** Resolves wiki links and relations to notes of the folder; others are reported. */
function linked(collector: Collector): Collector {
  const names = new Map<string, string>()
  for (const { id, metadata } of collector.entries) {
    const path = String(id).replace(/\.md$/i, '')
    const keys = [own(metadata ?? null, 'title'), own(metadata ?? null, 'permalink'), path, basename(path)]
    for (const key of keys)
      if (typeof key === 'string' && !names.has(key.toLowerCase())) names.set(key.toLowerCase(), String(id))
  }
  for (const [i, found] of collector.entries.entries()) {
    let metadata: JsonObject = found.metadata ?? {}
    if (/\[\[[^\]]*$/m.test(withoutFences(found.text))) collector.note(found.where, 'has an unclosed wiki link')
    for (const { type, target } of mentionsOf(found.text)) {
      const to = names.get(target.toLowerCase())
      if (to === undefined) collector.note(found.where, `links to "${target}", which is not a note of the folder`)
      else if (to === found.id) collector.note(found.where, 'links to itself')
      else if (type === 'supersedes') metadata = withId(metadata, 'supersedes', to)
      else metadata = related(metadata, type, to, target)
    }
    collector.entries[i] = { ...found, metadata }
  }
  return collector
}
