// Reads files of a repository, which may hold links to devices that never end, or to files elsewhere.
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { sep } from 'node:path'

/** Larger settings are not read, and larger files are not compared. */
const [MOST_BYTES, MOST_COMPARED] = [4_000_000, 1_000_000]

/** @param {string} file @returns {string} its text @throws for a device or folder, and for a file that is too large */
export function readText(file, most = MOST_BYTES) {
  const stat = statSync(file)
  if (!stat.isFile() || stat.size > most) throw new Error(`cannot read ${file}`)
  return readFileSync(file, 'utf8')
}

/** @param {string} root @param {string} file @returns {string | null} its text; null if it cannot be read or is outside of the root */
export function readInside(root, file) {
  try {
    return realpathSync(file).startsWith(realpathSync(root).replace(/[/\\]?$/, sep))
      ? readText(file, MOST_COMPARED)
      : null
  } catch {
    return null
  }
}
