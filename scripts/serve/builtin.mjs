// Manages the built-in model of a server on this machine: whether it has one, and the missing vectors once the model is ready.

import { DEFAULT_MODEL } from '../../src/cli/models/catalogue.mjs'
import { inMegabytes } from '../../src/cli/models/command.mjs'
import { modelsFolder } from '../../src/cli/models/folder.mjs'
import { createBuiltinModel } from './model/builtin-model.mjs'
import { askReadiness } from './ready.mjs'

/** The same text as in src/index.ts. */
const MODEL_IS_READY = 'the built-in model is ready'
/** Delay between runs, so that a failing schedule does not use the processor all the time. */
const PAUSE_MS = 250

const MAKING = 'Making vectors of existing entries; until then these are found by words only.'

/** @typedef {ReturnType<typeof createBuiltinModel>} BuiltinModel */

/** @param {unknown} value */
const isOff = (value) => /^(false|0|no|off)$/i.test(String(value ?? '').trim())

/** @param {Record<string, unknown>} variables of the Worker @returns {string} the configured provider */
export const providerOf = ({ EMBEDDING_PROVIDER, ENABLE_SEMANTIC_SEARCH }) =>
  isOff(ENABLE_SEMANTIC_SEARCH)
    ? 'none'
    : String(EMBEDDING_PROVIDER ?? '')
        .trim()
        .toLowerCase()

/** Returns whether the server runs its own model: it does unless another provider is configured. @param {Record<string, unknown>} variables */
export const withDefaultProvider = (variables) => ({
  ...variables,
  EMBEDDING_PROVIDER: String(variables.EMBEDDING_PROVIDER ?? '').trim() || 'builtin',
})

/**
 * @param {Record<string, unknown>} variables of the Worker
 * @returns {BuiltinModel | null} null where another provider makes vectors
 */
export function builtinModelFor(variables) {
  if (providerOf(variables) !== 'builtin') return null
  const name = String(variables.EMBEDDING_MODEL || DEFAULT_MODEL)
  const runtime = /** @type {any} */ (process.env.COMMONPLACE_RUNTIME || undefined)
  return createBuiltinModel({
    name,
    models: modelsFolder(),
    mirror: String(variables.MODEL_URL ?? '') || undefined,
    ...(runtime && { runtime }),
    tell: console.error,
    // Only a terminal can show a progress bar.
    ...(process.stdout.isTTY && { onProgress: inMegabytes(name) }),
  })
}

/**
 * Makes missing vectors once the model is ready: runs the schedule repeatedly until none is missing.
 *
 * @param {BuiltinModel} model
 * @param {{ origin: string, run: (cron?: string) => Promise<void>, isStopping: () => boolean }} server
 */
export function embedWhenReady(model, { origin, run, isStopping }) {
  const isMissing = async () => (await askReadiness(origin)).unfinished?.includes('vectors') === true
  model.onReady(async () => {
    try {
      const begun = model.count()
      await run(MODEL_IS_READY)
      let isTold = false
      for (let before = -1; !isStopping() && (await isMissing()); before = model.count()) {
        // If a run makes no progress, the rest is left to the five-minute schedule.
        if (before === model.count()) return
        if (!isTold && model.count() > begun) console.log(MAKING)
        isTold ||= model.count() > begun
        await run()
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
      if (isTold && !isStopping()) console.log('Every entry now has vectors of the model.')
    } catch {
      // The server is stopping, or reports the problem itself.
    }
  })
}
