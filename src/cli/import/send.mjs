// Sends volumes to a server, one after the other; each is sent again if the connection breaks, and stored entries are recognized by id.
import { readFileSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { showProgress } from '../progress.mjs'
import { Refused, request } from '../server.mjs'

const TRIES = 5
const WAIT_MS = 1000

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * @typedef {object} Totals
 * @property {Record<string, number>} entries
 * @property {Record<string, number>} images
 * @property {number} links
 * @property {number} versions
 * @property {number} vectors
 * @property {[unknown, number][]} map
 * @property {{ volume: number, line: number, id?: unknown, code: string, message: string }[]} problems
 * @property {{ volume: number, line: number, id?: unknown, code: string, message: string }[]} warnings the first hundred of each volume
 * @property {Record<string, number>} warned the number of warnings by code
 * @property {number} volumes
 * @property {number[]} unequal volumes that were imported completely, but whose content differs here
 */

/** @param {Record<string, number>} sums @param {Record<string, number>} more */
function add(sums, more) {
  for (const [name, n] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + n
}

/**
 * @param {{ url: string, org: string, query: URLSearchParams }} target
 * @param {Uint8Array} bytes
 */
async function post({ url, org, query }, bytes) {
  const path = `/orgs/${encodeURIComponent(org)}/import?${query}`
  const body = gzipSync(bytes)
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await request(url, path, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/gzip' },
      })
      return await response.json()
    } catch (error) {
      if (!(error instanceof Refused) || !error.retryable || attempt === TRIES) throw error
      await sleep(WAIT_MS * attempt)
    }
  }
}

/** @param {Uint8Array} bytes the last line of a volume has the hash of its content */
const contentOf = (bytes) => {
  const text = Buffer.from(bytes.subarray(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1)).toString()
  return JSON.parse(text).content
}

/**
 * Sends volumes and sums up the results.
 *
 * @param {{ url: string, org: string, query: URLSearchParams, json?: boolean }} target
 * @param {AsyncIterable<{ bytes: Uint8Array }>} volumes
 * @returns {Promise<Totals>}
 */
export async function sendVolumes(target, volumes) {
  /** @type {Totals} */
  const totals = {
    entries: {},
    images: {},
    links: 0,
    versions: 0,
    vectors: 0,
    map: [],
    problems: [],
    warnings: [],
    warned: {},
    volumes: 0,
    unequal: [],
  }
  for await (const { bytes } of volumes) {
    const report = await post(target, bytes)
    totals.volumes++
    add(totals.entries, report.entries)
    add(totals.images, report.images)
    for (const part of /** @type {const} */ (['links', 'versions', 'vectors'])) totals[part] += report[part]
    totals.map.push(...(report.map ?? []))
    for (const part of /** @type {const} */ (['problems', 'warnings']))
      totals[part].push(...(report[part] ?? []).map((/** @type {any} */ one) => ({ volume: report.volume, ...one })))
    add(totals.warned, report.warned ?? {})
    const { skipped, refused } = report.entries
    if (
      report.content !== undefined &&
      report.content !== contentOf(bytes) &&
      skipped + refused + report.images.missing + (report.warned?.redacted ?? 0) === 0
    )
      totals.unequal.push(report.volume)
    if (!target.json) showProgress('volumes', totals.volumes, totals.volumes)
  }
  return totals
}

/**
 * Writes the map of ids into the map file, and preserves the user's content.
 *
 * @param {string} file `F.map.json`
 * @param {[unknown, number][]} map
 */
export function writeMap(file, map) {
  if (map.length === 0) return
  let before = {}
  try {
    before = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  const ids = { ...before.ids, ...Object.fromEntries(map.map(([theirs, ours]) => [String(theirs), ours])) }
  writeFileSync(file, `${JSON.stringify({ ...before, ids }, null, 1)}\n`)
}

/**
 * Writes volumes one after another; the file gets its name only when it is complete.
 *
 * @param {string} out
 * @param {AsyncIterable<{ bytes: Uint8Array }>} volumes
 * @returns {Promise<number>} how many
 */
export async function writeFile(out, volumes) {
  const unfinished = `${out}.unfinished`
  const file = await open(unfinished, 'w')
  let count = 0
  try {
    for await (const { bytes } of volumes) {
      await file.writeFile(bytes)
      count++
    }
    await file.close()
    await rename(unfinished, out)
    return count
  } catch (error) {
    await file.close().catch(() => {})
    await rm(unfinished, { force: true })
    throw error
  }
}
