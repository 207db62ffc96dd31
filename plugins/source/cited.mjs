// Compares the lines that memories cite with the files of the repository, at the start of a session.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { bareLines, compareCitation, searchBudget } from '../../src/domain/entry/compare-citation'
import { readInside } from './files.mjs'

/** Characters that all comparisons of a start read and hash: about 0.1 seconds. */
const MOST_WORK = 20_000_000
/** The end of the memories in a text for the model. */
const CLOSE = /<\/commonplace[^>]*>/

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/**
 * Whether the cited lines differ from those of the file. A file that cannot be read may have moved: `commonplace check` finds it. A
 * comparison that takes too long decides nothing.
 */
function hasChanged(root, { path, lines, hash, around }, budget) {
  const text = budget.left > 0 ? readInside(root, join(root, path)) : null
  if (text === null) return false
  budget.left -= text.length
  const { state } = compareCitation({ lines, hash, around }, bareLines(text), sha256, budget)
  return state === 'changed' && budget.left > 0
}

/**
 * Adds to a text for the model which of its memories cite lines that have changed. No other part of the output changes.
 *
 * @param {Record<string, any> | null} output @param {any} cited of the answer @param {string} root of the repository
 */
export function withChanges(output, cited, root) {
  if (output === null || !Array.isArray(cited)) return output
  const budget = searchBudget(MOST_WORK)
  const changed = cited.filter((one) => typeof one?.path === 'string' && hasChanged(root, one, budget))
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
