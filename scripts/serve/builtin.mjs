// The built-in model of a server that is started here: whether it has one, and the vectors that an arrived model leaves to be made.

import { DEFAULT_MODEL } from '../../src/cli/models/catalogue.mjs'
import { inMegabytes } from '../../src/cli/models/command.mjs'
import { modelsFolder } from '../../src/cli/models/folder.mjs'
import { createBuiltinModel } from './model/builtin-model.mjs'
import { askReadiness } from './ready.mjs'

/** As src/index.ts knows it. */
const MODEL_IS_READY = 'the built-in model is ready'
/** Between two runs, so that a schedule that fails does not keep the processor busy. */
const PAUSE_MS = 250

const MAKING = 'Vectors of what was stored before are being made; until then it is found by its words.'

/** @typedef {ReturnType<typeof createBuiltinModel>} BuiltinModel */

/** @param {unknown} value */
const isOff = (value) => /^(false|0|no|off)$/i.test(String(value ?? '').trim())

/** @param {Record<string, unknown>} variables of the Worker @returns {string} the provider in force */
export const providerOf = ({ EMBEDDING_PROVIDER, ENABLE_SEMANTIC_SEARCH }) =>
  isOff(ENABLE_SEMANTIC_SEARCH)
    ? 'none'
    : String(EMBEDDING_PROVIDER ?? '')
        .trim()
        .toLowerCase()

/** A start on this machine runs a model of its own, unless another provider is configured. @param {Record<string, unknown>} variables */
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
    // Only a terminal can show a bar.
    ...(process.stdout.isTTY && { onProgress: inMegabytes(name) }),
  })
}

/**
 * Makes the vectors that entries lack once the model is ready: run after run of the schedule, until nothing is missing.
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
        // When a run leaves as many as before, the rest waits for the schedule of every five minutes.
        if (before === model.count()) return
        if (!isTold && model.count() > begun) console.log(MAKING)
        isTold ||= model.count() > begun
        await run()
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
      if (isTold && !isStopping()) console.log('Every entry has vectors of the model now.')
    } catch {
      // The server is stopping, or its data are broken, which it reports itself.
    }
  })
}
