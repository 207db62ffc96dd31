import { basename } from 'node:path'
import { type JsonObject, own } from '../../domain/entry/metadata'
import type { Collector } from './collector'
import { withoutFences } from './front-matter'
import { related } from './links'

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
