// The embedders that are measured: the built-in one, and a real model, whose vectors a server of the collections'
// folder looks up by text, so that the model is not needed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const SERVER = 'model-server.mjs'
const REAL = 'all-MiniLM-L6-v2'
const DIMENSIONS = 384

/** Collections of whose texts the model server knows the vectors. */
const KNOWN = ['beam-dev', 'cosqa-dev', 'cranfield', 'locomo-dev']

/**
 * @typedef {object} Model
 * @property {string} name
 * @property {(collection: string) => boolean} knows whether it has vectors for the texts of a collection
 * @property {(port: number) => Promise<{vars: Record<string, string>, stop: () => void}>} start
 */

/** @type {Model} */
const LOCAL = { name: 'local', knows: () => true, start: async () => ({ vars: {}, stop: () => {} }) }

async function untilReady(origin) {
  for (let tries = 0; tries < 100; tries++) {
    const ready = await fetch(`${origin}/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${SERVER} did not start`)
}

/** @type {(script: string) => Model} */
const real = (script) => ({
  name: REAL,
  knows: (collection) => KNOWN.includes(collection),
  async start(port) {
    const child = spawn(process.execPath, [script, String(port)], { stdio: ['ignore', 'ignore', 'inherit'] })
    const origin = `http://127.0.0.1:${port}`
    const vars = {
      EMBEDDING_PROVIDER: 'openai',
      EMBEDDING_MODEL: REAL,
      EMBEDDING_DIM: String(DIMENSIONS),
      OPENAI_API_BASE: `${origin}/v1`,
      OPENAI_API_KEY: 'none',
    }
    const stop = () => void child.kill()
    process.once('exit', stop)
    try {
      await untilReady(origin)
    } catch (error) {
      stop()
      throw error
    }
    return { vars, stop }
  },
})

/**
 * The models that can be asked, those named or all.
 *
 * @param {string} folder of the collections
 * @param {string} [names] separated by commas
 * @returns {Model[]}
 */
export function chooseModels(folder, names) {
  const script = join(folder, SERVER)
  const all = [LOCAL, ...(existsSync(script) ? [real(script)] : [])]
  if (names === undefined) return all
  return names.split(',').map((name) => {
    const found = all.find((model) => model.name === name)
    if (found === undefined) throw new Error(`No model ${name}; there are ${all.map((model) => model.name).join(', ')}`)
    return found
  })
}
