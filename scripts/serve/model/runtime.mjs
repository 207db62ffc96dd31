// The two runtimes of ONNX models: native code if its package is installed, else WebAssembly, which runs everywhere.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BUILT, isPackaged } from '../../../src/cli/place.mjs'

/** @typedef {'native' | 'wasm'} RuntimeName */
/** @typedef {{ name: RuntimeName, ort: typeof import('onnxruntime-common'), options: object }} Runtime */

/** One thread: a second one makes queries slower (docs/decisions). */
const NATIVE = { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 }

/** @returns {Promise<Runtime>} @throws if the package is missing, or has no binary for this machine */
async function native() {
  const ort = await import('onnxruntime-node')
  return { name: 'native', ort, options: NATIVE }
}

/** The published package contains the needed files of onnxruntime-web; a checkout has all of it. @returns {Promise<Runtime>} */
async function wasm() {
  const built = pathToFileURL(join(BUILT, 'onnxruntime', 'ort.mjs')).href
  const ort = await (isPackaged ? import(built) : import('onnxruntime-web'))
  ort.env.wasm.numThreads = 1
  ort.env.logLevel = 'error'
  return { name: 'wasm', ort, options: { executionProviders: ['wasm'], logSeverityLevel: 3 } }
}

/**
 * @param {RuntimeName} [only] allows this one only
 * @returns {Promise<Runtime>}
 */
export async function loadRuntime(only) {
  if (only === 'wasm') return wasm()
  try {
    return await native()
  } catch (error) {
    if (only === 'native') throw error
    return wasm()
  }
}
