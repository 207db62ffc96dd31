// `commonplace index [dir] --project P`: sends what changed of a folder's files to the index of code, and what vanished.
import { createHash } from 'node:crypto'
import { readFileSync, statSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { showProgress } from '../progress.mjs'
import { ask, fail, messageOf, shown } from '../server.mjs'
import { isMade, listFiles } from './files.mjs'
import { rootOf } from './root.mjs'

/** Below the limits of a call, so that a bar moves and others are served meanwhile. */
const BATCH_FILES = 50
const BATCH_BYTES = 1_000_000
const MAX_BYTES = 1_048_576
const BINARY_BYTES = 8192
/** After a change the others of the same moment are waited for. */
const SETTLE_MS = 300
/** Until the next try where a server did not answer. */
const RETRY_MS = 5_000

const codeOf = (error) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))

/** The text of a file, or why it has none; nothing for one that is gone meanwhile. */
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

/** A pass that would delete more than this share of what is known is a mistake, as a rule: a folder that is not mounted, a wrong one. */
const MOST_VANISHED = 0.5
/** Paths of one call that deletes. */
const BATCH_DELETED = 5_000

/** What the folder holds, against what the index knows of it. */
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
  // What cannot be read is not gone.
  const unread = skipped.flatMap(({ path, reason }) =>
    reason.startsWith('cannot be read') ? [`${inside}${path}`] : [],
  )
  const isUnread = (path) => unread.some((one) => path === one || (one.endsWith('/') && path.startsWith(one)))
  const deleted = [...hashes.keys()].filter((path) => !present.has(path) && !isUnread(path))
  return { changed, deleted, skipped, present: present.size }
}

/** Whether so much is gone that it is rather not deleted. */
const isMistake = (deleted, known, present) =>
  deleted.length > 0 && (present === 0 || deleted.length > known.length * MOST_VANISHED)

/** One pass: compares hashes, sends, and says what was done. */
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

/** Says what is wrong with a folder that has no files, or lacks most of them. @returns whether anything is */
function sayRefused({ refused, root, isEmpty }, folder) {
  if (isEmpty && refused === 0) console.error(`${folder} has no files to index`)
  if (refused === 0) return isEmpty
  console.error(
    `${refused} files of ${root} are gone from ${folder}, more than half of those that are known, and were not deleted; ` +
      'is it the right folder, and all there? With --full they go',
  )
  return true
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
 * @param {any} options url, project, root, watch, full, json
 * @param {string | undefined} dir
 * @param {(problem: string) => never} usage
 */
export async function index(options, dir, usage) {
  if (!options.project) usage('index needs --project, the key under which the code is found')
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
