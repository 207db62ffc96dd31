// Reads a file of volumes as a stream, decompressed if it is gzip; it may be larger than memory.
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { createGunzip } from 'node:zlib'

/** @param {string} path */
function isGzip(path) {
  const file = openSync(path, 'r')
  try {
    const bytes = new Uint8Array(2)
    return readSync(file, bytes) === 2 && bytes[0] === 0x1f && bytes[1] === 0x8b
  } finally {
    closeSync(file)
  }
}

/**
 * Yields the bytes of a file of volumes.
 *
 * @param {string} path
 * @returns {AsyncIterable<Uint8Array>}
 */
export function bytesOf(path) {
  if (!isGzip(path)) return createReadStream(path)
  const unpacked = createGunzip()
  createReadStream(path)
    .once('error', (error) => unpacked.destroy(error))
    .pipe(unpacked)
  return unpacked
}
