// `commonplace model pull|list|remove`: the models that a server on this machine runs itself.
import { didYouMean } from '../nearest.mjs'
import { showProgress } from '../progress.mjs'
import { fail } from '../server.mjs'
import { DEFAULT_MODEL, HUB, MODELS, megabytes, pinnedModel, sizeOf } from './catalogue.mjs'
import { downloadModel } from './download.mjs'
import { folderOf, installedModel, ModelProblem, modelsFolder, removeModel, storedModels } from './folder.mjs'

/** Reports the progress of a download once per megabyte. @param {string} name */
export function inMegabytes(name) {
  let shown = -1
  return (/** @type {number} */ received, /** @type {number} */ total) => {
    const done = Math.floor(received / 1e6)
    if (done === shown) return
    shown = done
    showProgress(`MB of ${name}`, done, Math.floor(total / 1e6))
  }
}

/** @param {string | undefined} name @param {(problem: string) => never} usage */
function named(name, usage) {
  const pinned = pinnedModel(name ?? DEFAULT_MODEL)
  const known = MODELS.map(({ model }) => model)
  return pinned ?? usage(`unknown model: ${name}.${didYouMean(name ?? '', known)} Known models: ${known.join(', ')}`)
}

/**
 * @param {{ json?: boolean }} options
 * @param {string | undefined} name @param {(problem: string) => never} usage
 */
export async function pull({ json = false }, name, usage) {
  const pinned = named(name, usage)
  const models = modelsFolder()
  const mirror = process.env.MODEL_URL || undefined
  if (!json && installedModel(pinned, models) === null)
    console.error(`Downloading ${pinned.model} (${megabytes(sizeOf(pinned))}) from ${mirror ?? HUB}`)
  try {
    const onProgress = json ? () => {} : inMegabytes(pinned.model)
    const { folder } = await downloadModel(pinned, { models, mirror, onProgress })
    console.log(json ? JSON.stringify({ model: pinned.model, folder }) : `${pinned.model} is in ${folder}`)
  } catch (error) {
    if (error instanceof ModelProblem) fail(error.message)
    throw error
  }
}

/** @param {{ json?: boolean }} options */
export async function list({ json = false }) {
  const models = modelsFolder()
  const known = MODELS.map((pinned) => ({
    model: pinned.model,
    languages: pinned.languages,
    license: pinned.license,
    bytes: sizeOf(pinned),
    installed: installedModel(pinned, models) !== null,
    folder: folderOf(pinned, models),
  }))
  const others = storedModels(models).filter(({ name }) => pinnedModel(name) === undefined)
  if (json) return console.log(JSON.stringify({ folder: models, models: known, others }, null, 2))
  const width = Math.max(...known.map(({ model }) => model.length))
  for (const { model, languages, license, bytes, installed } of known)
    console.log(
      `${installed ? 'ok' : '--'}  ${model.padEnd(width)}  ${megabytes(bytes).padStart(6)}  ${languages}, ${license}`,
    )
  for (const { name, bytes } of others) console.log(`??  ${name.padEnd(width)}  ${megabytes(bytes).padStart(6)}`)
  console.log(`\nModels are in ${models}. Set EMBEDDING_MODEL to choose one; the default is ${DEFAULT_MODEL}.`)
}

/**
 * @param {{ json?: boolean }} options
 * @param {string | undefined} name @param {(problem: string) => never} usage
 */
export async function remove({ json = false }, name, usage) {
  const models = modelsFolder()
  const pinned = named(name, usage)
  const stored = storedModels(models).find((one) => one.name === pinned.model)
  removeModel(pinned, models)
  if (json) console.log(JSON.stringify({ model: pinned.model, bytes: stored?.bytes ?? 0 }))
  else
    console.log(stored ? `Removed ${pinned.model} (${megabytes(stored.bytes)})` : `${pinned.model} is not downloaded`)
}
