// Data of suites stay where a person put them; what was read is named by its hash.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {string} folder
 * @param {readonly string[]} names of JSON files below it
 * @returns {{ files: any[], hash: string }} what they hold, and the first 16 digits of SHA-256 over them
 */
export function readData(folder, names) {
  const hash = createHash('sha256')
  const files = names.map((name) => {
    const bytes = readFileSync(join(folder, name))
    hash.update(bytes)
    return JSON.parse(bytes.toString('utf8'))
  })
  return { files, hash: hash.digest('hex').slice(0, 16) }
}
