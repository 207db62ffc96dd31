// Compares the lines that memories cite with the files of the repository, at the start of a session.
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bareLines, compareCitation } from '../../src/domain/entry/compare-citation'

/** Larger files are not read. */
const MOST_BYTES = 1_000_000
/** The end of the memories in a text for the model. */
const CLOSE = /<\/commonplace[^>]*>/

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** @param {string} root @param {string} path @returns {string | null} the text of a file; null if it is gone or too large */
function textOf(root, path) {
  try {
    const file = join(root, path)
    return statSync(file).size > MOST_BYTES ? null : readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Whether the cited lines differ from those of the file. A file that cannot be read may have moved: `commonplace check` finds it. */
function hasChanged(root, { path, lines, hash, around }) {
  if (path.split('/').includes('..')) return false
  const text = textOf(root, path)
  return text !== null && compareCitation({ lines, hash, around }, bareLines(text), sha256).state === 'changed'
}

/**
 * Adds to a text for the model which of its memories cite lines that have changed. No other part of the output changes.
 *
 * @param {Record<string, any> | null} output @param {any} cited of the answer @param {string} root of the repository
 */
export function withChanges(output, cited, root) {
  if (output === null || !Array.isArray(cited)) return output
  const changed = cited.filter((one) => typeof one?.path === 'string' && hasChanged(root, one))
  if (changed.length === 0) return output
  const places = changed.map(({ id, path, lines }) => `[${Number(id)}] ${path.replace(/[<\n]/g, ' ')}:${lines}`)
  const said = `The cited lines have changed since: ${places.join(', ')}. Read the code before you rely on these memories.`
  const filled = (value) =>
    typeof value === 'string'
      ? value.replace(CLOSE, (end) => `${said}\n${end}`)
      : value !== null && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner)]))
        : value
  return filled(output)
}
