// Finds the files of a chat export that hold conversations.
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { JsonValue } from '../../domain/entry/metadata'
import type { Collector } from './collector'
import { readText } from './files'
import { parseJson, RowProblem, SourceProblem } from './values'

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
