// Writes what a server prints to a file with rotation, for services of systems that keep no log themselves.
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export const MAX_LOG_BYTES = 5_000_000
const OLDER_FILES = 2

/**
 * Appends to a file. A file that would exceed the limit is renamed to `FILE.1`, and an earlier `FILE.1` to `FILE.2`.
 *
 * @param {string} file
 * @param {number} [maxBytes] of one file
 * @returns {(chunk: string | Uint8Array) => void}
 */
export function rotatingLog(file, maxBytes = MAX_LOG_BYTES) {
  mkdirSync(dirname(file), { recursive: true })
  let size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return (chunk) => {
    const length = Buffer.byteLength(chunk)
    if (size > 0 && size + length > maxBytes) {
      for (let i = OLDER_FILES; i > 0; i--) {
        const from = i === 1 ? file : `${file}.${i - 1}`
        if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${file}.${i}`)
      }
      size = 0
    }
    appendFileSync(file, chunk)
    size += length
  }
}

/** Sends the output of this process, and what is piped into it, to a file with rotation. @param {string} file */
export function logTo(file) {
  const write = rotatingLog(file)
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = /** @type {typeof stream.write} */ (
      (
        /** @type {string | Uint8Array} */ chunk,
        /** @type {unknown} */ encoding,
        /** @type {(() => void) | undefined} */ done,
      ) => {
        try {
          write(chunk)
        } catch {
          // A full disk must not end the server.
        }
        const callback = typeof encoding === 'function' ? encoding : done
        callback?.()
        return true
      }
    )
  }
}
