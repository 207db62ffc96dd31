// The built-in embedding model of a server: downloads and loads it, and answers its requests. The Worker reaches it through the service binding
// BUILTIN_MODEL, which is `fetch` here; no port is opened for it.
import { basename } from 'node:path'
import { megabytes, sizeOf } from '../../../src/cli/models/catalogue.mjs'
import { downloadModel } from '../../../src/cli/models/download.mjs'
import {
  chosenModel,
  installedModel,
  ModelProblem,
  modelInFolder,
  removeModel,
} from '../../../src/cli/models/folder.mjs'
import { createEmbeddingThread, IDLE_MS } from './embedding-thread.mjs'
import { DamagedModel } from './sentence-model.mjs'

/** @typedef {import('../../../src/domain/meaning/hosted-model.ts').ModelState} ModelState */

/** Delay between a failed download and the next attempt; a model installed by another process is detected earlier. */
const RETRY_MS = 5 * 60_000
const LOOK_MS = 5_000

/**
 * @typedef {object} HostOptions
 * @property {string} name EMBEDDING_MODEL: a pinned model or a folder
 * @property {string} models folder of downloaded models
 * @property {string} [mirror] MODEL_URL
 * @property {import('./runtime.mjs').RuntimeName} [runtime]
 * @property {(line: string) => void} tell
 * @property {(received: number, total: number) => void} [onProgress]
 * @property {(name: string) => ReturnType<typeof chosenModel>} [choose]
 * @property {number} [idleMs]
 * @property {number} [lookMs]
 * @property {number} [retryMs]
 */

/** @param {HostOptions} options */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createBuiltinModel(options) {
  const { name, models, mirror, runtime, tell, onProgress, choose = chosenModel } = options
  const { idleMs = IDLE_MS, lookMs = LOOK_MS, retryMs = RETRY_MS } = options
  /** The label of a folder is its name. */
  const label = basename(name)
  /** @type {ModelState} */
  let state = { state: 'loading', name: label }
  /** @type {ReturnType<typeof createEmbeddingThread> | null} */
  let thread = null
  /** @type {(() => void)[]} */
  const whenReady = []
  /** The state until it is known whether the files exist and can be loaded. */
  const known = Promise.withResolvers()
  const stopping = new AbortController()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let triedAt = 0
  /** The problem that was printed last. */
  let told = ''

  /** @param {import('../../../src/cli/models/folder.mjs').LocalModel | Omit<import('../../../src/cli/models/folder.mjs').LocalModel, 'revision'>} local */
  async function load(local) {
    const loading = createEmbeddingThread(local, { runtime, idleMs })
    try {
      const { runtime: found, digest } = await loading.load()
      thread = loading
      const { model, dim, max_tokens, reads, levels } = local.facts
      const revision = 'revision' in local ? local.revision : `${digest.slice(0, 8)}-${max_tokens}`
      state = {
        ...{ state: 'ready', name: label, runtime: found },
        model: { name: model, revision, dimensions: dim, ...(reads && { reads }), ...(levels && { levels }) },
      }
    } catch (error) {
      await loading.close()
      throw error
    }
    known.resolve(undefined)
    for (const call of whenReady.splice(0)) call()
  }

  /** @param {import('../../../src/cli/models/catalogue.mjs').PinnedModel} pinned @returns {Promise<boolean>} whether it is loaded */
  async function loadInstalled(pinned) {
    const installed = installedModel(pinned, models)
    if (installed === null) return false
    try {
      await load(installed)
      return true
    } catch (error) {
      if (!(error instanceof DamagedModel)) throw error
      tell(`${error.message}. Downloading it again.`)
      removeModel(pinned, models)
      return false
    }
  }

  /** @param {import('../../../src/cli/models/catalogue.mjs').PinnedModel} pinned */
  async function fetchAndLoad(pinned) {
    if (await loadInstalled(pinned)) return
    const total = sizeOf(pinned)
    if (triedAt === 0)
      tell(
        `Downloading the model ${pinned.model} (${megabytes(total)}, once). Until then, "local" is used, which compares words only.`,
      )
    triedAt = Date.now()
    state = { state: 'downloading', name: label, received: 0, total }
    known.resolve(undefined)
    await downloadModel(pinned, {
      ...{ models, mirror, signal: stopping.signal },
      onProgress(received) {
        state = { state: 'downloading', name: label, received, total }
        onProgress?.(received, total)
      },
    })
    if (!(await loadInstalled(pinned)))
      throw new ModelProblem(`The model ${pinned.model} was downloaded but is not complete`)
    tell(`The model ${pinned.model} is downloaded and now in use.`)
  }

  /** @param {unknown} error */
  function missing(error) {
    if (stopping.signal.aborted) return
    const problem = error instanceof ModelProblem ? error.message : String(error)
    state = { state: 'unavailable', name: label, problem }
    known.resolve(undefined)
    if (problem === told) return
    told = problem
    tell(
      `! The model ${label} is not available, so "local" is used: ${problem}. The server tries again; without a network, see docs/models.md.`,
    )
  }

  async function attempt() {
    try {
      const chosen = choose(name)
      if ('folder' in chosen) await load(modelInFolder(chosen.folder))
      else await fetchAndLoad(chosen.pinned)
    } catch (error) {
      missing(error)
      watch()
    }
  }

  /** Detects a model that another process installs (`commonplace model pull`), and a network that returns. */
  function watch() {
    clearTimeout(timer)
    timer = setTimeout(async () => {
      try {
        const chosen = choose(name)
        if ('folder' in chosen || Date.now() - triedAt >= retryMs) return void attempt()
        if (!(await loadInstalled(chosen.pinned))) watch()
      } catch (error) {
        missing(error)
        watch()
      }
    }, lookMs)
    timer.unref()
  }

  /** @param {Request} request @returns {Promise<Response>} */
  async function embed(request) {
    if (thread === null) return Response.json({ message: `The model ${label} is not loaded` }, { status: 503 })
    const embedder = thread
    const { kind, texts } = /** @type {{ kind: 'query' | 'passage', texts: string[] }} */ (await request.json())
    try {
      const vectors = await Promise.all(texts.map((text) => embedder.embed(text, kind)))
      const bytes = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0))
      let at = 0
      for (const vector of vectors) {
        bytes.set(vector, at)
        at += vector.length
      }
      return new Response(bytes, { headers: { 'content-type': 'application/octet-stream' } })
    } catch (error) {
      return Response.json({ message: error.message }, { status: 503 })
    }
  }

  return {
    /** Starts at once and never fails: problems are reported in the state. */
    begin: () => void attempt(),
    /** @returns {ModelState} */
    state: () => state,
    /** @param {() => void} call called once, when vectors can be made */
    onReady(call) {
      if (state.state === 'ready') call()
      else whenReady.push(call)
    },
    isLoaded: () => thread?.isLoaded() === true,
    /** Number of texts that were embedded. */
    count: () => thread?.count() ?? 0,
    /** Answers the Worker: `GET /state`, `POST /embed`. @param {Request} request @returns {Promise<Response>} */
    async fetch(request) {
      if (new URL(request.url).pathname === '/embed') return embed(request)
      // A downloaded model is loaded in a second or two; an answer never waits for a download.
      await known.promise
      return Response.json(state)
    },
    async close() {
      clearTimeout(timer)
      stopping.abort()
      await thread?.close()
    },
  }
}
