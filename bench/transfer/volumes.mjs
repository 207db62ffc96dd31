// Generates volumes of a given size, one at a time: entries of some hundred characters, or images of some megabytes.
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { bundled } from '../../src/cli/bundle.mjs'
import { random } from '../support/numbers.mjs'

const at = '2026-11-24T00:00:00.000Z'
const START = Date.parse('2024-01-01T00:00:00.000Z')
const file = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url).href)

/** @typedef {typeof import('../../src/domain/transfer/volume-writer')} Writer */

/** @returns {Promise<Writer>} */
export const loadWriter = () => bundled(file('../../src/domain/transfer/volume-writer.ts'))

const WORDS = Array.from({ length: 4000 }, (_, i) => `w${((i * 2654435761) >>> 0).toString(36)}`)

/** @param {() => number} next @param {number} words */
const textOf = (next, words) =>
  Array.from({ length: words }, () => WORDS[Math.floor(next() ** 2 * WORDS.length)]).join(' ')

/**
 * As many entries: 50 to 250 words, tags, metadata, every fifth one naming the one before it.
 *
 * @param {number} count
 */
export function* entries(count) {
  const next = random(31)
  for (let id = 1; id <= count; id++) {
    const time = new Date(START + id * 60_000).toISOString()
    const links =
      id % 5 === 0
        ? {
            metadata: { title: `entry ${id}`, project: `p${id % 8}`, supersedes: id - 1 },
            links: [{ relation: 'supersedes', to: id - 1, origin: 'metadata' }],
          }
        : { metadata: { title: `entry ${id}`, project: `p${id % 8}` } }
    yield {
      ...{ record: 'entry', id, thread_id: `thread ${id % 400}`, source: 'agent' },
      text: `${id} ${textOf(next, 50 + Math.floor(next() * 200))}`,
      ...{ ...links, tags: [`area-${id % 60}`], project: `p${id % 8}`, created_at: time, updated_at: time, version: 1 },
    }
  }
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

/**
 * Entries with one image each, no two alike.
 *
 * @param {number} from the first id
 * @param {number} count
 * @param {number} size bytes of an image
 */
export function* images(from, count, size) {
  const noise = Buffer.alloc(size)
  const next = random(32)
  for (let i = 0; i < size; i += 4) noise.writeUInt32LE(Math.floor(next() * 2 ** 32), i)
  PNG.copy(noise)
  for (let i = 0; i < count; i++) {
    noise.writeUInt32LE(i, PNG.length)
    const sha256 = createHash('sha256').update(noise).digest('hex')
    yield { record: 'image', sha256, mime_type: 'image/png', size, data: noise.toString('base64') }
    const id = from + i
    yield {
      ...{ record: 'entry', id, thread_id: 'pictures', source: 'agent', text: `picture ${id}`, version: 1 },
      ...{ images: [{ sha256, mime_type: 'image/png', size }], created_at: at, updated_at: at },
    }
  }
}

/**
 * @param {Writer} writer
 * @param {Iterable<any>} records
 * @returns {AsyncGenerator<import('../../src/domain/transfer/volume-writer').Volume>}
 */
export function volumesOf(writer, records) {
  // The content hash of a link to an entry of another volume is unknown here, so it is read from the server
  return writer.writeVolumes({ store: 'bench:transfer', at }, records, { stable: () => null, isMissing: () => false })
}
