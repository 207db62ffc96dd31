// Draws small pictures for the demo as PNG (chunks, CRC-32, deflate), so that no image files are needed.
import { crc32, deflateSync } from 'node:zlib'

const [WIDTH, HEIGHT] = [480, 360]
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body) >>> 0, 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** @typedef {readonly [number, number, number]} Colour */
/** @param {(x: number, y: number) => Colour} colourAt */
function png(colourAt) {
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3))
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) rows.set(colourAt(x, y), y * (1 + WIDTH * 3) + 1 + x * 3)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** @type {Record<string, Colour>} */
const C = {
  paper: [250, 248, 243],
  ink: [40, 44, 52],
  line: [222, 217, 207],
  teal: [11, 107, 93],
  rose: [196, 96, 84],
  night: [18, 24, 33],
  lamp: [99, 205, 183],
}

/** @param {number[]} values @param {Colour} colour */
const bars = (values, colour) => (/** @type {number} */ x, /** @type {number} */ y) => {
  const width = WIDTH / values.length
  const at = Math.floor(x / width)
  if (y % 60 === 0) return C.line
  const inside = x % width > 6 && x % width < width - 6 && HEIGHT - y < (values[at] ?? 0) * HEIGHT
  return inside ? (at < values.length / 2 ? C.rose : colour) : C.paper
}

/** @type {Record<string, (x: number, y: number) => Colour>} */
const PICTURES = {
  latency: bars([0.82, 0.9, 0.78, 0.86, 0.93, 0.12, 0.1, 0.13, 0.11, 0.09], C.teal),
  delays: bars([0.3, 0.6, 0.2, 0.45, 0.5, 0.4, 0.62, 0.35, 0.55, 0.48, 0.3, 0.66], C.teal),
  deck: (x, y) => {
    const inDeck = ((x - 240) / 225) ** 2 + ((y - 180) / 150) ** 4 < 1
    const seat = x % 30 > 5 && x % 30 < 25 && y % 30 > 6 && y % 30 < 24 && Math.abs(x - 240) > 18
    if (!inDeck) return C.paper
    return seat ? ((Math.floor(x / 30) * 7 + Math.floor(y / 30) * 3) % 11 < 3 ? C.teal : [168, 208, 199]) : C.line
  },
  boarding: (x, y) => {
    const row = Math.floor((y - 40) / 56)
    const lit = y > 40 && y < 320 && (y - 40) % 56 < 34 && x > 40 && x < 440 - ((row * 61) % 170)
    return lit ? (row === 1 ? C.lamp : [88, 99, 115]) : C.night
  },
}

/** @param {string} name @returns {{ data: string, mime_type: string }} in the form of a tool argument */
export const picture = (name) => ({
  data: png(PICTURES[name] ?? PICTURES.deck).toString('base64'),
  mime_type: 'image/png',
})
