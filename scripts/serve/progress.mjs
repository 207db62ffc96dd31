// Shows how far a download is: one line that grows on a terminal, nothing elsewhere.
import { megabytes } from '../../src/cli/models/catalogue.mjs'

const WIDTH = 30

/** @param {number} received @param {number} total */
export function progressLine(received, total) {
  const share = total === 0 ? 0 : received / total
  const done = Math.round(WIDTH * share)
  return `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)} ${Math.floor(100 * share)} % of ${megabytes(total)}`
}

/** @param {NodeJS.WriteStream} stream @returns {(received: number, total: number) => void} */
export function createProgress(stream = process.stderr) {
  let shown = ''
  return (received, total) => {
    if (!stream.isTTY) return
    const line = progressLine(received, total)
    if (line === shown) return
    shown = line
    stream.write(`\r${line}${received >= total ? '\n' : ''}`)
  }
}
