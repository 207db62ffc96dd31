// The folder of downloaded models, and the files that a model's folder must contain.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pinnedModel } from './catalogue.mjs'

/** @typedef {import('./catalogue.mjs').PinnedModel} PinnedModel */
/** @typedef {import('./catalogue.mjs').ModelFacts} ModelFacts */

/**
 * A model as files on this machine.
 *
 * @typedef {object} LocalModel
 * @property {string} folder
 * @property {string} model path of the network
 * @property {string} tokenizer path of the tokenizer
 * @property {string} revision distinguishes vectors in the store: those of two revisions are never compared
 * @property {Record<string, string>} sha256 by path, if pinned
 * @property {ModelFacts} facts
 */

/** A model that cannot be used; the message names the remedy. */
export class ModelProblem extends Error {}

/** Written when every file has its checksum: without it a folder is incomplete. */
const CONFIG = 'config.json'

/**
 * Returns the user's cache folder, by the XDG Base Directory Specification, Apple's guide and Microsoft's known folders; below the data
 * folder if COMMONPLACE_DATA is set.
 *
 * @param {Record<string, string | undefined>} env
 * @param {NodeJS.Platform} platform
 * @param {string} home
 */
export function modelsFolder(env = process.env, platform = process.platform, home = homedir()) {
  if (env.COMMONPLACE_MODELS) return env.COMMONPLACE_MODELS
  if (env.COMMONPLACE_DATA) return join(env.COMMONPLACE_DATA, 'models')
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'commonplace', 'models')
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'commonplace', 'models')
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'commonplace', 'models')
}

/** @param {PinnedModel} model @param {string} models */
export const folderOf = ({ model, revision }, models) => join(models, model, revision.slice(0, 12))

/** @param {PinnedModel} model @param {string} models @returns {{ model: string, tokenizer: string }} */
export function filesOf(model, models) {
  const folder = folderOf(model, models)
  return {
    model: join(folder, basename(model.files.model.path)),
    tokenizer: join(folder, basename(model.files.tokenizer.path)),
  }
}

/** @param {string} path @returns {number} -1 if it does not exist */
const bytesOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? -1

/** @param {PinnedModel} model @param {string} models @returns {LocalModel | null} null if it is not complete */
export function installedModel(model, models) {
  const folder = folderOf(model, models)
  const paths = filesOf(model, models)
  const { files, repository, revision, license, languages, ...facts } = model
  if (!existsSync(join(folder, CONFIG))) return null
  if (bytesOf(paths.model) !== files.model.bytes || bytesOf(paths.tokenizer) !== files.tokenizer.bytes) return null
  return {
    ...{ folder, ...paths, facts },
    revision: `${revision.slice(0, 8)}-${facts.max_tokens}`,
    sha256: { [paths.model]: files.model.sha256, [paths.tokenizer]: files.tokenizer.sha256 },
  }
}

/** Marks a model as complete. @param {PinnedModel} model @param {string} models */
export function confirmModel(model, models) {
  const { files, ...facts } = model
  const config = { ...facts, file: basename(files.model.path), tokenizer: basename(files.tokenizer.path) }
  mkdirSync(folderOf(model, models), { recursive: true })
  writeFileSync(join(folderOf(model, models), CONFIG), `${JSON.stringify(config, null, 2)}\n`)
}

/** @param {PinnedModel} model @param {string} models */
export const removeModel = (model, models) => rmSync(join(models, model.model), { recursive: true, force: true })

/** @param {string} models @returns {{ name: string, bytes: number }[]} all folders, complete or not */
export function storedModels(models) {
  try {
    return readdirSync(models, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => ({ name, bytes: bytesBelow(join(models, name)) }))
  } catch {
    return []
  }
}

/** @param {string} folder @returns {number} */
const bytesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + Math.max(0, bytesOf(join(parentPath, name))), 0)

const POOLINGS = ['mean', 'cls']

/**
 * Reads a folder with `config.json`, a model and a tokenizer.
 *
 * @param {string} folder
 * @returns {Omit<LocalModel, 'revision'>}
 * @throws {ModelProblem} that reports what is missing or wrong
 */
export function modelInFolder(folder) {
  const path = join(folder, CONFIG)
  if (!existsSync(path)) throw new ModelProblem(`EMBEDDING_MODEL names the folder ${folder}, which has no ${CONFIG}`)
  /** @type {any} */
  let config
  try {
    config = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw new ModelProblem(`${path} is not JSON`)
  }
  const wrong = (/** @type {string} */ name, /** @type {string} */ what) =>
    new ModelProblem(`${path} has no usable "${name}": it must be ${what}`)
  const isCount = (/** @type {unknown} */ value) => Number.isInteger(value) && Number(value) > 0
  if (!isCount(config.dim)) throw wrong('dim', 'the length of a vector')
  if (!isCount(config.max_tokens)) throw wrong('max_tokens', 'the number of tokens that the model reads')
  const { pooling = 'mean' } = config
  if (!POOLINGS.includes(pooling)) throw wrong('pooling', POOLINGS.join(' or '))
  const files = { model: config.file ?? 'model.onnx', tokenizer: config.tokenizer ?? 'tokenizer.json' }
  const paths = { model: join(folder, files.model), tokenizer: join(folder, files.tokenizer) }
  for (const [what, file] of Object.entries(paths))
    if (bytesOf(file) < 0)
      throw new ModelProblem(`The ${what} of the model is missing: ${file} does not exist (see ${path})`)
  return {
    ...{ folder, ...paths, sha256: {} },
    facts: {
      ...{ model: String(config.model ?? basename(folder)), dim: config.dim, max_tokens: config.max_tokens, pooling },
      normalize: config.normalize !== false,
      query_prefix: String(config.query_prefix ?? ''),
      passage_prefix: String(config.passage_prefix ?? ''),
      ...(config.output && { output: String(config.output) }),
      ...(isCount(config.reads) && { reads: config.reads }),
      ...(config.levels && { levels: config.levels }),
    },
  }
}

/**
 * Resolves EMBEDDING_MODEL for the built-in provider: a pinned model, or a folder.
 *
 * @param {string} name
 * @param {string} from base of relative folders
 * @returns {{ pinned: PinnedModel } | { folder: string }}
 * @throws {ModelProblem}
 */
export function chosenModel(name, from = process.cwd()) {
  const pinned = pinnedModel(name)
  if (pinned !== undefined) return { pinned }
  const folder = resolve(from, name)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { folder }
  throw new ModelProblem(
    `EMBEDDING_MODEL is "${name}", which is neither a built-in model nor a folder; list them with: commonplace model list`,
  )
}
