// `commonplace import` and `commonplace verify`: checks a file, and imports it or previews the import.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { orgOf } from '../administration.mjs'
import { bundled } from '../bundle.mjs'
import { didYouMean } from '../nearest.mjs'
import { fail, Refused } from '../server.mjs'
import { showPlan, showSent, showVerified } from './report.mjs'
import { sendVolumes, writeFile, writeMap } from './send.mjs'
import { bytesOf } from './volumes-file.mjs'

/** Exit code if something was refused and the rest was imported. */
export const REFUSALS = 3

/** @returns {Promise<typeof import('./library')>} */
const loadLibrary = () => bundled(fileURLToPath(new URL('library.ts', import.meta.url).href))

/** @typedef {(problem: string) => never} Usage */

/**
 * Ends the program with one sentence for errors that the user can fix.
 *
 * @template T
 * @param {Pick<typeof import('./library'), 'Problem' | 'SourceProblem'>} library
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
export async function explained(library, run) {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Refused) return fail(error.message)
    if (error instanceof library.Problem || error instanceof library.SourceProblem) return fail(error.message)
    // Errors of node:zlib and node:fs for a file that is cut or cannot be read.
    if (['Z_BUF_ERROR', 'Z_DATA_ERROR', 'EACCES', 'EISDIR', 'ENOENT'].includes(error.code)) return fail(error.message)
    throw error
  }
}

/**
 * Ends the program likewise, and explains how to import a file that is not a file of volumes.
 *
 * @template T
 * @param {typeof import('./library')} library
 * @param {string} path
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
async function explainedVolumes(library, path, run) {
  const foreign = `to import a file of another system, use --from with one of: ${library.SOURCES.join(', ')}`
  if (statSync(path).isDirectory()) fail(`${path} is a folder, not a file of volumes; ${foreign}`)
  return explained(library, async () => {
    try {
      return await run()
    } catch (error) {
      const isFirst = error instanceof library.Problem && /^line 1:/.test(error.message)
      return isFirst
        ? fail(`${error.message}\nThis does not seem to be a file of volumes; ${foreign}`)
        : Promise.reject(error)
    }
  })
}

/**
 * Checks a complete file of volumes: each volume, and the content of all.
 *
 * @param {{ json?: boolean }} options
 * @param {string} path
 */
export async function verify({ json }, path) {
  if (!existsSync(path)) fail(`${path} does not exist`)
  const library = await loadLibrary()
  const verified = await explainedVolumes(library, path, () => library.verifyExport(() => bytesOf(path)))
  process.exitCode = showVerified(verified, json === true)
}

/**
 * Path of the file that renames projects: `F.map.json`, next to F.
 *
 * @param {string} path
 * @returns {Map<string, string>}
 */
function readMap(path) {
  const file = `${resolve(path)}.map.json`
  if (!existsSync(file)) return new Map()
  try {
    const told = JSON.parse(readFileSync(file, 'utf8'))
    const entries = Object.entries(told?.projects ?? {})
    if (told?.constructor === Object && entries.every(([, project]) => typeof project === 'string'))
      return new Map(/** @type {[string, string][]} */ (entries))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return fail(`${file} must contain {"projects": {"name in the source": "project here"}}`)
}

/**
 * @typedef {object} ImportOptions
 * @property {string} [from] the system that wrote the file; without it the file contains volumes
 * @property {string} [project] project of entries without one
 * @property {string} [name] identifies the store instead of the path
 * @property {string} [out] writes volumes to this file instead of sending them
 * @property {boolean} [prompts]
 * @property {'skip' | 'replace' | 'fail'} [on-conflict]
 * @property {boolean} [dry-run]
 * @property {string} [org]
 * @property {string} [url] of the server
 * @property {boolean} [named] whether the user named the server
 * @property {boolean} [json]
 */

/**
 * @param {ImportOptions} options
 * @param {string} path
 * @param {Usage} usage
 */
export async function importFile(options, path, usage) {
  const { from, project, name, out, prompts, json } = options
  const conflicts = ['skip', 'replace', 'fail']
  if (!existsSync(path)) fail(`${path} does not exist`)
  if (!conflicts.includes(options['on-conflict'] ?? 'skip'))
    usage(`--on-conflict must be one of: ${conflicts.join(', ')}`)
  const sends = out === undefined && (!options['dry-run'] || options.named === true)
  if (from === undefined && !sends) return verify(options, path)
  const library = await loadLibrary()
  // Read before anything is sent: the ids of imported entries are added to it.
  const map = readMap(path)
  if (from === undefined) return sendFile(library, options, path)
  if (!library.SOURCES.includes(from))
    usage(`--from must be one of: ${library.SOURCES.join(', ')}.${didYouMean(from, library.SOURCES)}`)
  const plan = await explained(library, () =>
    library.planImport(from, path, {
      name: name ?? resolve(path),
      at: new Date().toISOString(),
      prompts: prompts === true,
      projects: { otherwise: project ?? null, map },
    }),
  )
  const volumes = out === undefined ? 0 : await explained(library, () => writeFile(out, plan.volumes()))
  const sent = sends ? await explained(library, () => send(options, plan.volumes())) : null
  showPlan({ ...plan, volumes, ...(sent === null ? {} : { sent }) }, out ?? null, json === true)
  process.exitCode = plan.refused.length > 0 ? REFUSALS : 0
  if (sent === null) return
  if (!options['dry-run']) writeMap(`${resolve(path)}.map.json`, sent.map)
  const code = showSent(sent, { json: json === true, dryRun: options['dry-run'] === true, alone: false })
  process.exitCode = code || process.exitCode
}

/**
 * @param {ImportOptions} options
 * @param {AsyncIterable<{ bytes: Uint8Array }>} volumes
 */
async function send(options, volumes) {
  const { url = '', json } = options
  const query = new URLSearchParams({
    on_conflict: options['on-conflict'] ?? 'skip',
    ...(options['dry-run'] ? { dry_run: 'true' } : {}),
  })
  return sendVolumes({ url, org: await orgOf({ url, org: options.org }), query, json }, volumes)
}

/**
 * Sends a file of volumes, after reading it to its end: only complete files are sent.
 *
 * @param {typeof import('./library')} library
 * @param {ImportOptions} options
 * @param {string} path
 */
async function sendFile(library, options, path) {
  const { project, json } = options
  const open = () => bytesOf(path)
  const sent = await explainedVolumes(library, path, async () => {
    const verified = await library.verifyExport(open)
    const unequal = verified.volumes.find((volume) => volume.content !== volume.computed)
    if (unequal !== undefined)
      fail(
        `line ${unequal.line}: the content hash of volume ${unequal.volume} does not match its entries; nothing was sent`,
      )
    return send(
      options,
      project === undefined ? library.completeVolumes(open()) : library.projectedVolumes(open, project),
    )
  })
  if (!options['dry-run']) writeMap(`${resolve(path)}.map.json`, sent.map)
  process.exitCode = showSent(sent, { json: json === true, dryRun: options['dry-run'] === true, alone: true })
}
