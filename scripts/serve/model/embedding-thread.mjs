// Sends requests to the thread of the model: queries before passages, one text at a time, and stops the thread when it is idle.
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { ModelProblem } from '../../../src/cli/models/folder.mjs'
import { DamagedModel } from './sentence-model.mjs'

/** @typedef {import('./sentence-model.mjs').TextKind} TextKind */
/** @typedef {{ text: string, kind: TextKind, resolve: (vector: Float32Array) => void, reject: (error: Error) => void }} Waiting */
/** @typedef {{ runtime: import('./runtime.mjs').RuntimeName, digest: string }} Loaded */

const THREAD = fileURLToPath(new URL('thread.mjs', import.meta.url).href)

/** A small young generation frees the garbage of a run early, which is a large part of the thread's memory. */
const YOUNG = { maxYoungGenerationSizeMb: 2 }

/** An idle process frees the memory of the model. */
export const IDLE_MS = 10 * 60_000

/**
 * @param {Omit<import('../../../src/cli/models/folder.mjs').LocalModel, 'revision'>} local
 * @param {{ runtime?: import('./runtime.mjs').RuntimeName, idleMs?: number }} [options]
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createEmbeddingThread(local, { runtime, idleMs = IDLE_MS } = {}) {
  /** @type {Waiting[]} */
  const queries = []
  /** @type {Waiting[]} */
  const passages = []
  /** @type {Waiting | null} */
  let asked = null
  /** @type {{ worker: Worker, loaded: Promise<Loaded> } | null} */
  let thread = null
  /** @type {NodeJS.Timeout | undefined} */
  let idle
  let answered = 0

  /** @param {Error} error */
  function fail(error) {
    const all = [...(asked === null ? [] : [asked]), ...queries.splice(0), ...passages.splice(0)]
    asked = null
    for (const { reject } of all) reject(error)
  }

  function unload() {
    const ended = thread?.worker.terminate()
    thread = null
    return ended
  }

  function rest() {
    clearTimeout(idle)
    idle = setTimeout(() => (asked === null ? void unload() : rest()), idleMs)
    idle.unref()
  }

  /** @param {Worker} worker */
  function next(worker) {
    asked = queries.shift() ?? passages.shift() ?? null
    if (asked !== null) worker.postMessage({ id: ++answered, text: asked.text, kind: asked.kind })
    rest()
  }

  function start() {
    const worker = new Worker(THREAD, { workerData: { local, runtime }, resourceLimits: YOUNG })
    worker.unref()
    const loaded = new Promise((/** @type {(loaded: Loaded) => void} */ resolve, reject) => {
      /** @param {Error} error */
      const ended = (error) => {
        reject(error)
        if (thread?.worker !== worker) return
        thread = null
        void worker.terminate()
        fail(error)
      }
      worker.on('message', (/** @type {import('./thread.mjs').Said} */ said) => {
        if (said.name === 'ready') resolve(said)
        else if (said.name === 'failed') ended(new (said.isDamaged ? DamagedModel : ModelProblem)(said.message))
        else {
          const answer = asked
          next(worker)
          if (said.name === 'vector') answer?.resolve(said.vector)
          else answer?.reject(new ModelProblem(said.message))
        }
      })
      worker.once('error', (error) => ended(new ModelProblem(`The thread of the model failed: ${error.message}`)))
      worker.once('exit', () => ended(new ModelProblem('The thread of the model has exited')))
    })
    thread = { worker, loaded }
    loaded.then(
      () => asked === null && next(worker),
      () => {},
    )
    return thread
  }

  return {
    /** @returns {Promise<Loaded>} @throws {ModelProblem} */
    load: () => (thread ?? start()).loaded,

    /**
     * @param {string} text @param {TextKind} kind
     * @returns {Promise<Float32Array>} @throws {ModelProblem}
     */
    embed(text, kind) {
      const made = new Promise((/** @type {(vector: Float32Array) => void} */ resolve, reject) => {
        const waiting = kind === 'query' ? queries : passages
        waiting.push({ text, kind, resolve, reject })
      })
      const { worker, loaded } = thread ?? start()
      void loaded.then(
        () => asked === null && thread?.worker === worker && next(worker),
        () => {},
      )
      return made
    },

    isLoaded: () => thread !== null,
    /** Number of texts that were sent to the thread. */
    count: () => answered,
    unload,
    async close() {
      clearTimeout(idle)
      fail(new ModelProblem('The server is stopping'))
      await unload()
    },
  }
}
