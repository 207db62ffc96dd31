// `commonplace index [dir] --project P`: sends what changed of a folder's files to the index of code, and what vanished.
import { createHash } from 'node:crypto'
import { readFileSync, statSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { showProgress } from '../progress.mjs'
import { ask, fail, messageOf } from '../server.mjs'
import { isMade, listFiles } from './files.mjs'

/** Below the limits of a call, so that a bar moves and others are served meanwhile. */
const BATCH_FILES = 50
const BATCH_BYTES = 1_000_000
const MAX_BYTES = 1_048_576
const BINARY_BYTES = 8192
/** After a change the others of the same moment are waited for. */
const SETTLE_MS = 300
/** Until the next try where a server did not answer. */
const RETRY_MS = 5_000

/** The text of a file, or null for one that the index would skip. */
function readText(file) {
  try {
    if (statSync(file).size > MAX_BYTES) return null
    const bytes = readFileSync(file)
    if (bytes.subarray(0, BINARY_BYTES).includes(0)) return null
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Gone meanwhile, or no UTF-8.
    return null
  }
}

function* batches(files) {
  let batch = []
  let bytes = 0
  for (const file of files) {
    if (batch.length > 0 && (batch.length === BATCH_FILES || bytes + file.content.length > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file)
    bytes += file.content.length
  }
  yield batch
}

/** One pass: compares hashes, sends, and says what was done. */
async function pass({ url, project, full }, folder, quiet) {
  const path = `/code/${encodeURIComponent(project)}/files`
  const { files: known } = await ask(url, 'GET', path)
  const hashes = new Map(known.map((file) => [file.path, file.sha256]))
  const paths = listFiles(folder)
  const changed = []
  let left = 0
  const present = new Set()
  for (const file of paths) {
    const content = readText(join(folder, file))
    if (content === null) {
      left++
      continue
    }
    present.add(file)
    const sha256 = createHash('sha256').update(content).digest('hex')
    if (full || hashes.get(file) !== sha256) changed.push({ path: file, content })
  }
  const deleted = [...hashes.keys()].filter((file) => !present.has(file))
  /** @type {any} */
  const report = { stored: 0, unchanged: present.size - changed.length, deleted: 0, skipped: [], indexStatus: null }
  if (full && known.length > 0) await ask(url, 'DELETE', path)
  let sent = 0
  for (const batch of batches(changed)) {
    const answer = await ask(url, 'PUT', path, { files: batch, deleted: sent === 0 && !full ? deleted : [] })
    sent += batch.length
    report.stored += answer.stored
    report.unchanged += answer.unchanged
    report.deleted += answer.deleted
    report.skipped.push(...answer.skipped)
    report.indexStatus = answer.indexStatus
    if (!quiet && changed.length > 0) showProgress('files', sent, changed.length)
  }
  return { ...report, left }
}

function say({ stored, unchanged, deleted, skipped, left, indexStatus }) {
  for (const { path, reason } of skipped) console.error(`skipped ${path}: ${reason}`)
  const more = left > 0 ? `, ${left} binary or larger than 1 MB left out` : ''
  console.log(
    `${stored} stored, ${unchanged} unchanged, ${deleted} deleted${more}; ${indexStatus.totalFiles} files, ` +
      `${indexStatus.totalSymbols} symbols`,
  )
}

/** Tells when something in the folder has changed that may be of interest, once for all changes of a moment. */
function onChange(folder, tell) {
  let timer
  watch(folder, { recursive: true }, (_, name) => {
    if (name !== null && isMade(String(name))) return
    clearTimeout(timer)
    timer = setTimeout(tell, SETTLE_MS)
  })
}

/**
 * Passes once, and again whenever something has changed, one pass after the other; goes on where the server does not answer, and
 * tries again then. Ends with the program.
 */
async function keepWatching(options, folder, answer) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0))
  let running = Promise.resolve()
  let retry
  const again = () => {
    clearTimeout(retry)
    running = running.then(async () => {
      try {
        answer(await pass({ ...options, full: false }, folder, true))
      } catch (error) {
        console.error(`${messageOf(error)}; trying again in ${RETRY_MS / 1000} seconds`)
        retry = setTimeout(again, RETRY_MS)
      }
    })
  }
  // Before the first pass, so that nothing changes unseen between the two.
  onChange(folder, again)
  const first = pass(options, folder, options.json)
  running = first.then(
    () => {},
    () => {},
  )
  answer(await first)
  console.error(`Watching ${folder}; stop with Ctrl-C.`)
}

/**
 * @param {any} options url, project, watch, full, json
 * @param {string | undefined} dir
 * @param {(problem: string) => never} usage
 */
export async function index(options, dir, usage) {
  if (!options.project) usage('index needs --project, the key under which the code is found')
  const folder = resolve(dir ?? '.')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) fail(`${folder} is no folder`)
  const answer = (report) => (options.json ? console.log(JSON.stringify(report)) : say(report))
  try {
    if (options.watch) await keepWatching(options, folder, answer)
    else answer(await pass(options, folder, options.json))
  } catch (error) {
    fail(messageOf(error))
  }
}
