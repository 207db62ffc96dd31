// Downloads a pinned model: resumes interrupted downloads, and accepts only files with the right checksum.
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { addressOf, HUB, sizeOf } from './catalogue.mjs'
import { confirmModel, filesOf, folderOf, installedModel, ModelProblem } from './folder.mjs'

/** @typedef {import('./catalogue.mjs').PinnedModel} PinnedModel */
/** @typedef {import('./catalogue.mjs').ModelFile} ModelFile */

/** A connection without data for this long is closed. */
const SILENCE_MS = 30_000
/** Attempts without a new byte before a download is aborted. */
const MOST_TRIES = 3

/** The partial file, and the ETag that it belongs to. @param {string} path */
const partOf = (path) => ({ part: `${path}.part`, tag: `${path}.part.etag` })

/** @param {string} path @returns {number} 0 if it does not exist */
const bytesOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** @param {string} path @returns {string | null} */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** @param {string} path @returns {Promise<string>} */
export async function checksumOf(path) {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Returns a user and password of the mirror as a header: `fetch` refuses addresses that contain them. @param {string} mirror */
function withoutCredentials(mirror) {
  const url = new URL(mirror)
  const { username, password } = url
  url.username = ''
  url.password = ''
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return { base: url.href, headers: username === '' && password === '' ? {} : { authorization } }
}

/** @param {number} from @param {string | null} tag @returns {Record<string, string>} */
const resuming = (from, tag) =>
  from === 0 ? {} : { range: `bytes=${from}-`, ...(tag !== null && { 'if-range': tag }) }

/**
 * @typedef {object} DownloadOptions
 * @property {string} models folder of all models
 * @property {string} [mirror] MODEL_URL
 * @property {(received: number, total: number) => void} [onProgress] bytes of all files
 * @property {AbortSignal} [signal]
 * @property {number} [silenceMs]
 */

/** Appends one response to a partial file. @throws any error of the connection or the disk */
async function receive(/** @type {string} */ url, /** @type {string} */ path, /** @type {ModelFile} */ file, options) {
  const { part, tag } = partOf(path)
  const { onBytes, silenceMs = SILENCE_MS, signal } = options
  const silence = new AbortController()
  const stop = () => silence.abort(new Error(`no data for ${Math.round(silenceMs / 1000)} s`))
  let timer = setTimeout(stop, silenceMs)
  const abort = () => silence.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  let output = -1
  try {
    const from = bytesOf(part)
    const response = await fetch(url, {
      headers: { ...options.headers, ...resuming(from, textOf(tag)) },
      signal: silence.signal,
    })
    // The part is longer than the file, or the server changed it.
    if (response.status === 416) return rmSync(part, { force: true })
    if (!response.ok) throw new ModelProblem(`${file.path} cannot be downloaded: status ${response.status}`)
    const isRest = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${from}-`)
    const etag = response.headers.get('etag')
    if (etag === null || etag.startsWith('W/')) rmSync(tag, { force: true })
    else writeFileSync(tag, etag)
    let size = isRest ? from : 0
    output = openSync(part, isRest ? 'a' : 'w')
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(stop, silenceMs)
      size += chunk.byteLength
      if (size > file.bytes)
        throw new ModelProblem(`${file.path} is larger than the ${file.bytes} bytes that are pinned`)
      writeSync(output, chunk)
      onBytes(size)
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    if (output >= 0) closeSync(output)
  }
}

/** Builds the message, without the address, which may contain a password. @param {unknown} error @param {string} name @param {string} path */
function problemOf(error, name, path) {
  if (error instanceof ModelProblem) return error
  const { code, message, cause } = /** @type {NodeJS.ErrnoException} */ (error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return new ModelProblem(`The disk is full: ${path} cannot be written`)
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new ModelProblem(`${path} cannot be written (${code})`)
  return new ModelProblem(`${name} cannot be downloaded: ${cause instanceof Error ? cause.message : message}`)
}

/** Errors of the disk or of the file itself: a retry does not help. @param {any} error */
const isFinal = (error) =>
  error instanceof ModelProblem || ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EPERM'].includes(error?.code)

/** Downloads one file, complete and with its checksum. */
async function downloadFile(
  /** @type {string} */ url,
  /** @type {string} */ path,
  /** @type {ModelFile} */ file,
  options,
) {
  const { part, tag } = partOf(path)
  for (let tries = 1; bytesOf(part) < file.bytes; ) {
    const before = bytesOf(part)
    let failure = null
    try {
      await receive(url, path, file, options)
    } catch (error) {
      if (isFinal(error) || options.signal?.aborted) throw problemOf(error, file.path, path)
      failure = error
    }
    tries = bytesOf(part) > before ? 1 : tries + 1
    if (tries > MOST_TRIES) throw problemOf(failure ?? new Error('the connection closed early'), file.path, path)
  }
  const found = await checksumOf(part)
  rmSync(tag, { force: true })
  if (found !== file.sha256) {
    rmSync(part, { force: true })
    throw new ModelProblem(`${file.path} has the SHA-256 ${found}, but ${file.sha256} is pinned; it was deleted`)
  }
  renameSync(part, path)
}

/** @param {number} pid */
function lives(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** @param {string} folder @throws {ModelProblem} if it is not writable, or while another process downloads into it */
function prepare(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    return lock(join(folder, 'lock'), folder)
  } catch (error) {
    if (error instanceof ModelProblem) throw error
    throw new ModelProblem(`${folder} cannot be written to (${error.code}); set COMMONPLACE_MODELS to another folder`)
  }
}

/** @param {string} path @param {string} folder */
function lock(path, folder) {
  const holder = Number(textOf(path) ?? 0)
  if (holder > 0 && holder !== process.pid && lives(holder))
    throw new ModelProblem(`Process ${holder} is already downloading into ${folder}`)
  writeFileSync(path, String(process.pid))
  return () => rmSync(path, { force: true })
}

/**
 * Completes a pinned model in the folder of models; existing files are not downloaded again.
 *
 * @param {PinnedModel} model
 * @param {DownloadOptions} options
 * @returns {Promise<import('./folder.mjs').LocalModel>}
 * @throws {ModelProblem} the next attempt resumes the partial download
 */
export async function downloadModel(model, { models, mirror = HUB, onProgress = () => {}, ...options }) {
  const paths = filesOf(model, models)
  const { base, headers } = withoutCredentials(mirror)
  const unlock = prepare(folderOf(model, models))
  try {
    let done = 0
    for (const name of /** @type {const} */ (['tokenizer', 'model'])) {
      const file = model.files[name]
      const onBytes = (/** @type {number} */ size) => onProgress(done + size, sizeOf(model))
      if (bytesOf(paths[name]) !== file.bytes || (await checksumOf(paths[name])) !== file.sha256)
        await downloadFile(addressOf(model, file, base), paths[name], file, { ...options, headers, onBytes })
      done += file.bytes
      onProgress(done, sizeOf(model))
    }
    confirmModel(model, models)
  } finally {
    unlock()
  }
  return /** @type {import('./folder.mjs').LocalModel} */ (installedModel(model, models))
}
