// `commonplace export --format markdown`: writes memories as files of a folder, once or until it is stopped.
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { orgOf } from '../administration.mjs'
import { bundled } from '../bundle.mjs'
import { counted } from '../counted.mjs'
import { volumesOf } from '../export/command.mjs'
import { bytesOf } from '../import/volumes-file.mjs'
import { fail, messageOf, shown } from '../server.mjs'
import { feedOf, follow } from '../watch.mjs'

/** @returns {Promise<typeof import('./library')>} */
export const loadLibrary = () => bundled(fileURLToPath(new URL('library.ts', import.meta.url).href))

/** Exit code if edited files were not changed. */
const KEPT = 3

/** @typedef {{ url: string, org: string, project: string | null, images: boolean }} Source */

/**
 * Updates a folder, with all entries or those that changed since a cursor.
 *
 * @param {typeof import('./library')} library
 * @param {Source} source
 * @param {string} root
 * @param {{ after?: string | undefined, only?: ReadonlySet<string> | null }} [part]
 */
export async function bringFolder(library, { url, org, project, images }, root, { after, only = null } = {}) {
  const query = new URLSearchParams({
    ...(project === null ? {} : { project }),
    ...(after === undefined ? {} : { after }),
    ...(images ? {} : { images: 'false' }),
  })
  // Links may point to later entries, so the export is read twice.
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-export-'))
  try {
    const path = join(folder, 'volumes.ndjson')
    const file = await open(path, 'wx', 0o600)
    try {
      for await (const bytes of volumesOf(library, { url, org, query })) await file.writeFile(bytes)
    } finally {
      await file.close()
    }
    const isComplete = after === undefined && only === null
    return await library.bringUpToDate(root, () => bytesOf(path), { project, isComplete, only })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {Awaited<ReturnType<typeof bringFolder>>} brought @param {boolean} json */
function show({ written, removed, unchanged, captured, kept }, json) {
  if (json) {
    console.log(JSON.stringify({ written, removed, unchanged, captured, kept }))
    return
  }
  for (const path of kept)
    console.error(`${shown(path)} was edited, so it was not changed: import the folder, or undo the edit`)
  const beside = captured === 0 ? '' : `; left out: ${counted(captured, 'captured session')}`
  console.log(`${counted(written, 'file')} written, ${removed} removed, ${unchanged} unchanged${beside}.`)
}

/**
 * @template T
 * @param {typeof import('./library')} library
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
async function explained(library, run) {
  try {
    return await run()
  } catch (error) {
    if (error instanceof library.Problem || error instanceof library.SourceProblem) return fail(error.message)
    return fail(messageOf(error))
  }
}

/**
 * @param {import('../export/command.mjs').ExportOptions} options
 * @param {(problem: string) => never} usage
 */
export async function exportMarkdown(options, usage) {
  const { out, project, json = false, url } = options
  if (out === undefined) usage('export --format markdown needs --out F, the folder to write')
  for (const name of /** @type {const} */ (['since', 'history', 'vectors', 'gzip']))
    if (options[name]) usage(`--${name} cannot be combined with --format markdown`)
  if (existsSync(out) && !statSync(out).isDirectory())
    fail(`${out} is not a folder; --out must name a new folder or one of an earlier export`)
  const library = await loadLibrary()
  const source = { url, org: await orgOf(options), project: project ?? null, images: !options['no-images'] }
  const first = await explained(library, () => bringFolder(library, source, out))
  show(first, json)
  process.exitCode = first.kept.length > 0 ? KEPT : 0
  if (options.watch) await keepCurrent(library, source, out, first.cursor, json)
}

/**
 * Writes each change into the folder, until the program is stopped.
 *
 * @param {typeof import('./library')} library
 * @param {Source} source
 * @param {string} root
 * @param {string | undefined} begun the cursor of the export in the folder
 * @param {boolean} json
 */
async function keepCurrent(library, source, root, begun, json) {
  let cursor = begun
  let isRunning = false
  let isBehind = false
  const bring = async () => {
    while (isBehind) {
      isBehind = false
      try {
        const brought = await bringFolder(library, source, root, { after: cursor })
        cursor = brought.cursor ?? cursor
        if (brought.written + brought.removed + brought.kept.length > 0) show(brought, json)
      } catch (error) {
        if (error instanceof library.SourceProblem) fail(error.message)
        // The next change retries with all entries: the cursor may have expired.
        cursor = undefined
        console.error(error.message)
      }
    }
    isRunning = false
  }
  const hear = () => {
    isBehind = true
    if (isRunning) return
    isRunning = true
    void bring()
  }
  const { url, org, project } = source
  await follow(feedOf({ url, org }, { project: project ?? undefined }), hear, begun)
}
