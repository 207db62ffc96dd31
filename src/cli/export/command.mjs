// `commonplace export`: writes an organization as a file of volumes. An interrupted download continues after the last complete volume.
import { existsSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { orgOf } from '../administration.mjs'
import { bundled } from '../bundle.mjs'
import { showVerified } from '../import/report.mjs'
import { bytesOf } from '../import/volumes-file.mjs'
import { showProgress } from '../progress.mjs'
import { fail, messageOf, Refused, request, shown } from '../server.mjs'

/** @returns {Promise<typeof import('../import/library')>} */
export const loadLibrary = () => bundled(fileURLToPath(new URL('../import/library.ts', import.meta.url).href))

/** The export replaces what has this name, so it must be a file: `/dev/stdout` would be deleted. @param {string} out */
export function checkTarget(out) {
  if (existsSync(out) && !statSync(out).isFile())
    fail(`${out} is not a file; --out must name a new file or one to replace`)
}

const FORMATS = ['volumes', 'markdown']

const TRIES = 5
const WAIT_MS = 1000

/** Reads a cursor. @param {Uint8Array} bytes of a complete volume */
export function endOf(bytes) {
  const from = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1
  return JSON.parse(Buffer.from(bytes.subarray(from)).toString())
}

/** @param {Response} response @returns {AsyncIterable<Uint8Array>} */
async function* chunksOf({ body }) {
  if (body !== null) yield* body
}

/**
 * Downloads the volumes of an export, with as many requests as needed.
 *
 * @param {Pick<typeof import('../import/library'), 'Problem' | 'completeVolumes'>} library
 * @param {{ url: string, org: string, query: URLSearchParams, owner?: string }} source `owner`: only what is stored of this person
 * @returns {AsyncGenerator<Uint8Array>}
 */
export async function* volumesOf(library, { url, org, query, owner }) {
  const of = owner === undefined ? '' : `/people/${encodeURIComponent(owner)}`
  let asked = query
  for (let failures = 0; ; ) {
    try {
      const response = await request(url, `/orgs/${encodeURIComponent(org)}${of}/export?${asked}`)
      for await (const { bytes } of library.completeVolumes(chunksOf(response))) {
        failures = 0
        yield bytes
        const { next } = endOf(bytes)
        if (next === undefined) return
        asked = new URLSearchParams({ from: next })
      }
    } catch (error) {
      // A connection that broke within a volume leaves it incomplete.
      const isBroken =
        error instanceof library.Problem || error instanceof TypeError || (error instanceof Refused && error.retryable)
      if (!isBroken || ++failures === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS * failures))
    }
  }
}

/**
 * Returns the cursor of an earlier export: as given, or from a file.
 *
 * @param {typeof import('../import/library')} library
 * @param {string} since
 */
async function cursorOf(library, since) {
  if (!existsSync(since)) return since
  let cursor
  for await (const { record } of library.readVolumes(bytesOf(since)))
    if (record.record === 'manifest') cursor = record.cursor
  return cursor ?? fail(`${since} has no cursor`)
}

/**
 * @typedef {object} ExportOptions
 * @property {string} [out]
 * @property {string} [org]
 * @property {string} [project]
 * @property {string} [since] a cursor, or the file of an earlier export
 * @property {boolean} [history]
 * @property {boolean} [vectors]
 * @property {boolean} [no-images]
 * @property {boolean} [gzip]
 * @property {string} [format] `volumes`, or `markdown` for a folder of files
 * @property {boolean} [watch] updates the folder until it is stopped
 * @property {boolean} [json]
 * @property {string} url
 */

/**
 * Writes the volumes of an export to a file, which gets its name when it is complete.
 *
 * @param {Awaited<ReturnType<typeof loadLibrary>>} library
 * @param {Parameters<typeof volumesOf>[1]} source
 * @param {{ out: string, gzip?: boolean | undefined, json?: boolean | undefined }} target
 */
export async function writeVolumes(library, source, { out, gzip, json }) {
  const unfinished = `${out}.unfinished`
  const file = await open(unfinished, 'w')
  let count = 0
  try {
    for await (const bytes of volumesOf(library, source)) {
      // Members of gzip one after the other are one file.
      await file.writeFile(gzip ? gzipSync(bytes) : bytes)
      count++
      if (!json) showProgress('volumes', count, count)
    }
    await file.close()
    await rename(unfinished, out)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(unfinished, { force: true })
    if (error instanceof library.Problem) fail(error.message)
    fail(messageOf(error))
  }
}

/**
 * @param {ExportOptions} options
 * @param {(problem: string) => never} usage
 */
export async function exportOrg(options, usage) {
  const { out, project, since, history, vectors, gzip, json, url, format = 'volumes' } = options
  if (!FORMATS.includes(format)) usage(`--format must be one of: ${FORMATS.join(', ')}`)
  if (options.watch) usage('--watch requires --format markdown')
  if (out === undefined) usage('export needs --out F, the file to write')
  checkTarget(out)
  const library = await loadLibrary()
  const org = await orgOf(options)
  const query = new URLSearchParams({
    ...(project === undefined ? {} : { project }),
    ...(since === undefined ? {} : { after: await cursorOf(library, since) }),
    ...(history ? { history: 'true' } : {}),
    ...(vectors ? { vectors: 'true' } : {}),
    ...(options['no-images'] ? { images: 'false' } : {}),
  })
  await writeVolumes(library, { url, org, query }, { out, gzip, json })
  const verified = await library.verifyExport(() => bytesOf(out))
  process.exitCode = showVerified(verified, json === true)
  if (project !== undefined && since === undefined && !json && verified.counts.entry === undefined)
    console.error(`This credential can read no memory of the project ${shown(project)}.`)
}
