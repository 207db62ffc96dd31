// The worker thread of the model: loads it, then answers one text at a time.
import { parentPort, workerData } from 'node:worker_threads'
import { ModelProblem } from '../../../src/cli/models/folder.mjs'
import { loadRuntime } from './runtime.mjs'
import { DamagedModel, loadSentenceModel } from './sentence-model.mjs'

/** @typedef {{ id: number, text: string, kind: import('./sentence-model.mjs').TextKind }} Question */
/** @typedef {{ name: 'ready', runtime: import('./runtime.mjs').RuntimeName, digest: string }
 *  | { name: 'failed', message: string, isDamaged: boolean }
 *  | { name: 'vector', id: number, vector: Float32Array } | { name: 'refused', id: number, message: string }} Said */

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)
/** @param {Said} said @param {ArrayBuffer[]} [moved] */
const say = (said, moved = []) => port.postMessage(said, moved)

try {
  const runtime = await loadRuntime(workerData.runtime)
  const { embed, digest } = await loadSentenceModel(workerData.local, runtime)
  port.on('message', async (/** @type {Question} */ { id, text, kind }) => {
    try {
      const vector = await embed(text, kind)
      say({ name: 'vector', id, vector }, [/** @type {ArrayBuffer} */ (vector.buffer)])
    } catch (error) {
      say({ name: 'refused', id, message: error.message })
    }
  })
  say({ name: 'ready', runtime: runtime.name, digest })
} catch (error) {
  const message = error instanceof ModelProblem ? error.message : `The model cannot be loaded: ${error.message}`
  say({ name: 'failed', message, isDamaged: error instanceof DamagedModel })
}
