// Reads Claude Code: topic files of its memory folders, and CLAUDE.md and rules by section (docs/import/claude-code.md).

import { basename } from 'node:path'
import { type JsonObject, own } from '../../domain/entry/metadata'
import { parseInstant } from '../../domain/time'
import { Collector, type Found } from './collector'
import { markdownBelow, readText, type TextFile } from './files'
import { readNote, withoutFences } from './front-matter'
import { related } from './links'
import { takeSections } from './markdown'
import { isJsonObject, RowProblem, shown, textOf } from './values'

/** Resolves links between memories of Claude Code, `[[name]]`, to memories (docs/import/claude-code.md). */

/** Normalizes names of memories: the program writes them with `-`, file names with `_` and a type prefix. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\.md$/, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-/, '')
    .replace(/-$/, '')

export function linked(collector: Collector): Collector {
  const names = new Map<string, string>()
  const key = (folder: string, name: string) => `${folder}\n${plain(name)}`
  for (const { id, threadId, metadata } of collector.entries) {
    const file = basename(String(id))
    for (const name of [
      own(metadata ?? null, 'title'),
      file,
      file.replace(/^(user|feedback|project|reference)[-_]/, ''),
    ])
      if (typeof name === 'string' && !names.has(key(threadId, name))) names.set(key(threadId, name), String(id))
  }
  for (const [i, found] of collector.entries.entries()) {
    let metadata: JsonObject = found.metadata ?? {}
    for (const [, target = ''] of withoutFences(found.text).matchAll(/\[\[([^[\]]+)\]\]/g)) {
      const to = names.get(key(found.threadId, target))
      if (to === undefined) collector.note(found.where, `links to [[${target}]], which does not exist`)
      else if (to !== found.id) metadata = related(metadata, 'links to', to, target)
    }
    collector.entries[i] = { ...found, metadata }
  }
  return collector
}

const INSTRUCTIONS = /(^|\/)CLAUDE(\.local)?\.md$|(^|\/)rules\/.*\.md$/
const KINDS: Readonly<Record<string, string>> = {
  user: 'convention',
  feedback: 'convention',
  project: 'note',
  reference: 'note',
}

/** @param projectOf the user's name for a folder whose name is not a path */
export async function readClaudeCode(path: string, projectOf: (folder: string) => string | null): Promise<Collector> {
  const collector = new Collector()
  const files = markdownBelow(collector, path, /\.md$/, true)
  const instructions = files.filter(({ name }) => INSTRUCTIONS.test(name))
  const others = files.filter(({ name }) => !INSTRUCTIONS.test(name))
  const inFolders = others.filter(({ name }) => /(^|\/)memory\//.test(name))
  // The path is a memory folder itself, with its files at the top.
  const memories = inFolders.length > 0 ? inFolders : others.filter(({ name }) => !name.includes('/'))
  for (const _ of others.filter((file) => !memories.includes(file))) collector.skip('other Markdown files')
  const unnamed = new Set<string>()
  const indexes: TextFile[] = []
  for (const file of memories) {
    const folder = folderOf(file, path)
    if (basename(file.name) === 'MEMORY.md') indexes.push(file)
    else
      collector.take(file.name, () => {
        const project = projectOf(folder)
        if (project === null) unnamed.add(folder)
        return topicOf(collector, file, folder, project)
      })
  }
  for (const file of indexes) indexed(collector, file, memories)
  for (const folder of unnamed)
    collector.note(folder, 'does not identify a path: use --project or the map to name the project of its memories')
  for (const file of instructions) await takeSections(collector, file, null)
  return linked(collector.holding(path, 'memory folder and no CLAUDE.md of Claude Code'))
}

/** Returns the folder name that identifies the project: the one above `memory`, or the given one. */
function folderOf({ name }: TextFile, path: string): string {
  const parts = name.split('/')
  const at = parts.lastIndexOf('memory')
  return at > 0
    ? (parts[at - 1] ?? '')
    : basename(path) === 'memory'
      ? basename(path.replace(/\/memory\/*$/, ''))
      : basename(path)
}

function topicOf(collector: Collector, file: TextFile, folder: string, project: string | null): Omit<Found, 'where'> {
  const text = readText(file.path).replaceAll('\r\n', '\n')
  if (text.trim() === '') throw new RowProblem('is empty')
  const { front, body } = readNote(text)
  const nested = own(front, 'metadata')
  const inner = isJsonObject(nested) ? nested : {}
  const say = (key: string) => own(front, key) ?? own(inner, key) ?? null
  const type = textOf(say('type'))
  if (type !== null && KINDS[type] === undefined)
    collector.note(file.name, `its type ${shown(type)} is unknown: it is imported as a note`)
  if (front === null) collector.note(file.name, 'has no front matter; its title is the name of the file')
  const title = textOf(say('name')) ?? basename(file.name, '.md')
  const description = textOf(say('description'))
  const session = textOf(say('originSessionId'))
  return {
    id: file.name,
    threadId: folder,
    source: type === 'user' ? 'user' : 'agent',
    text: body,
    metadata: {
      kind: KINDS[type ?? ''] ?? 'note',
      title,
      ...(description === null ? {} : { description }),
      ...(session === null ? {} : { session }),
      ...(project === null ? {} : { project }),
    },
    tags: type === null ? [] : [type],
    createdAt: modifiedOf(collector, file, say('modified')),
  }
}

function modifiedOf(collector: Collector, file: TextFile, modified: unknown): number {
  const at = typeof modified === 'string' ? parseInstant(modified.trim()) : null
  if (at === null)
    collector.note(
      file.name,
      `${modified === null ? 'has no modified' : 'its modified is not a time'}: it gets the time of the file`,
    )
  return at ?? file.at
}

/** The index has no memories of its own: lines without a file, and lines for missing files, are reported. */
function indexed(collector: Collector, file: TextFile, memories: readonly TextFile[]): void {
  const folder = file.name.slice(0, -'MEMORY.md'.length)
  const there = new Set(memories.map(({ name }) => name))
  try {
    for (const [i, line] of readText(file.path).split(/\r?\n/).entries()) {
      const where = `${file.name} line ${i + 1}`
      const target = /\]\(([^)]+\.md)\)/.exec(line)?.[1]
      if (target !== undefined && !there.has(folder + target))
        collector.note(where, `names ${target}, which does not exist`)
      else if (target === undefined && /^\s*[-*] \S/.test(line))
        collector.note(where, `is only in the index, so it is not imported: ${shown(line.trim())}`)
    }
    collector.skip('MEMORY.md, which are indexes')
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error
    collector.refuse(file.name, error.message)
  }
}
