// Which files of a chat export hold conversations?
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonValue } from '../../domain/entry/metadata'
import { readText } from './files'
import { parseJson, RowProblem, SourceProblem } from './values'

/** The lists of chats in a file, or in the files of a folder that are named so. @throws SourceProblem */
export function* chatFiles(path: string, named: RegExp): Generator<{ file: string; chats: readonly JsonValue[] }> {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => named.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path]
  if (files.length === 0) throw new SourceProblem(`${path} holds no conversations.json; unpack the export first`)
  for (const file of files) yield { file, chats: listIn(file) }
}

function listIn(file: string): readonly JsonValue[] {
  try {
    const chats = parseJson(readText(file), 'it')
    if (Array.isArray(chats)) return chats
    throw new RowProblem('it is no list of chats')
  } catch (error) {
    if (error instanceof RowProblem)
      throw new SourceProblem(`${file} cannot be read: ${error.message}; nothing of it is taken`)
    throw error
  }
}
