// `commonplace index [dir] --project P`: updates the code index with changed and deleted files of a folder.
import { createHash } from 'node:crypto'
import { readFileSync, statSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { showProgress } from '../progress.mjs'
import { ask, fail, messageOf, shown } from '../server.mjs'
import { isMade, listFiles } from './files.mjs'
import { rootOf } from './root.mjs'

/** Below the limits of a call, so that progress is visible and other requests are served. */
const BATCH_FILES = 50
const BATCH_BYTES = 1_000_000
const MAX_BYTES = 1_048_576
const BINARY_BYTES = 8192
/** Delay after a change, to collect others. */
const SETTLE_MS = 300
/** Delay before a retry when the server does not respond. */
const RETRY_MS = 5_000

const codeOf = (error) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))

/** Reads a file's text, or returns why it has none; empty if it was deleted meanwhile. */
function readText(file) {
  try {
    if (statSync(file).size > MAX_BYTES) return { reason: 'larger than 1 MB' }
    const bytes = readFileSync(file)
    if (bytes.subarray(0, BINARY_BYTES).includes(0)) return { reason: 'binary' }
    try {
      return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
    } catch {
      return { reason: 'no UTF-8' }
    }
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? {} : { reason: `cannot be read (${codeOf(error)})` }
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

/** A pass that would delete more than this fraction of the known files is probably a mistake: the folder is not mounted, or wrong. */
const MOST_VANISHED = 0.5
/** Paths per call that deletes. */
const BATCH_DELETED = 5_000

/** Compares the folder with the index. */
function compare(folder, inside, known, full) {
  const hashes = new Map(known.map((file) => [file.path, file.sha256]))
  const { files, skipped } = listFiles(folder)
  const changed = []
  const present = new Set()
  for (const file of files) {
    const { content, reason } = readText(join(folder, file))
    if (reason !== undefined) skipped.push({ path: file, reason })
    if (content === undefined) continue
    const path = `${inside}${file}`
    present.add(path)
    const sha256 = createHash('sha256').update(content).digest('hex')
    if (full || hashes.get(path) !== sha256) changed.push({ path, content })
  }
  // An unreadable file is not a deleted one.
  const unread = skipped.flatMap(({ path, reason }) =>
    reason.startsWith('cannot be read') ? [`${inside}${path}`] : [],
  )
  const isUnread = (path) => unread.some((one) => path === one || (one.endsWith('/') && path.startsWith(one)))
  const deleted = [...hashes.keys()].filter((path) => !present.has(path) && !isUnread(path))
  return { changed, deleted, skipped, present: present.size }
}

/** Returns whether too many files are missing to delete any. */
const isMistake = (deleted, known, present) =>
  deleted.length > 0 && (present === 0 || deleted.length > known.length * MOST_VANISHED)

/** Runs one pass: compares hashes, sends changes, and reports them. */
async function pass({ url, project, root: named, full }, folder, quiet) {
  const { root, inside } = rootOf(folder, named)
  const path = `/code/${encodeURIComponent(project)}/files`
  const listed = await ask(url, 'GET', `${path}?root=${encodeURIComponent(root)}`)
  const known = listed.files.filter((file) => file.path.startsWith(inside))
  const { changed, deleted, skipped, present } = compare(folder, inside, known, full)
  const refused = !full && isMistake(deleted, known, present) ? deleted.length : 0
  const gone = full ? known.map((file) => file.path) : refused > 0 ? [] : deleted
  /** @type {any} */
  const isEmpty = present === 0 && !full
  const report = {
    root,
    isEmpty,
    stored: 0,
    unchanged: present - changed.length,
    deleted: 0,
    skipped,
    refused,
    indexStatus: null,
  }
  for (let at = 0; at < gone.length; at += BATCH_DELETED) {
    const answer = await ask(url, 'PUT', path, { root, files: [], deleted: gone.slice(at, at + BATCH_DELETED) })
    report.deleted += full ? 0 : answer.deleted
    report.indexStatus = answer.indexStatus
  }
  let sent = 0
  for (const batch of changed.length === 0 && report.indexStatus !== null ? [] : batches(changed)) {
    const answer = await ask(url, 'PUT', path, { root, files: batch, deleted: [] })
    sent += batch.length
    report.stored += answer.stored
    report.unchanged += answer.unchanged
    report.skipped.push(...answer.skipped)
    report.indexStatus = answer.indexStatus
    if (!quiet && changed.length > 0) showProgress('files', sent, changed.length)
  }
  if (full) report.deleted = deleted.length
  return report
}

function say({ stored, unchanged, deleted, skipped, indexStatus, root }) {
  for (const { path, reason } of skipped) console.error(`skipped ${shown(path)}: ${reason}`)
  console.log(
    `${stored} stored, ${unchanged} unchanged, ${deleted} deleted of ${root}; ${indexStatus.totalFiles} files, ` +
      `${indexStatus.totalSymbols} symbols`,
  )
}

/** Reports a folder that has no files, or lacks most of them. @returns whether it does */
function sayRefused({ refused, root, isEmpty }, folder) {
  if (isEmpty && refused === 0) console.error(`${folder} has no files to index`)
  if (refused === 0) return isEmpty
  console.error(
    `${refused} files of ${root} are missing in ${folder}, more than half of the indexed files, so none were deleted from the index. ` +
      'Check that the folder is right and complete. To delete them, use --full',
  )
  return true
}

/** Calls back once after a burst of relevant changes in the folder. */
function onChange(folder, tell) {
  let timer
  watch(folder, { recursive: true }, (_, name) => {
    if (name !== null && isMade(String(name))) return
    clearTimeout(timer)
    timer = setTimeout(tell, SETTLE_MS)
  })
}

/**
 * Runs a pass, and another after each change; if the server does not respond, it retries later. Ends with the program.
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
  // Started before the first pass, so that no change is missed.
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
 * @param {any} options url, project, root, watch, full, json
 * @param {string | undefined} dir
 * @param {(problem: string) => never} usage
 */
export async function index(options, dir, usage) {
  if (!options.project) usage('index needs --project, the project of the code')
  const folder = resolve(dir ?? '.')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) fail(`${folder} is not a folder`)
  const answer = (report) => {
    if (options.json) console.log(JSON.stringify(report))
    else say(report)
    return sayRefused(report, folder)
  }
  try {
    if (options.watch) await keepWatching(options, folder, answer)
    else if (answer(await pass(options, folder, options.json))) process.exitCode = 1
  } catch (error) {
    fail(messageOf(error))
  }
}
