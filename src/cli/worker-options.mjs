// Binds the Worker in the local simulator of Cloudflare, as wrangler reads its configuration; in a package, as it was read when that
// was packed, so that an installation does not need wrangler.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BUILT, isPackaged, ROOT } from './place.mjs'

/** @param {string} config @param {string} folder of the build @returns {string} */
export const builtOptions = (config, folder = BUILT) => join(folder, 'worker', config.replace(/\.toml$/, '.json'))

/**
 * @param {string} config `wrangler.toml` or `wrangler.postgres.toml`, or another file's path in a checkout
 * @returns {Promise<Record<string, any>>}
 */
export async function workerOptionsOf(config) {
  if (isPackaged) return JSON.parse(readFileSync(builtOptions(config), 'utf8'))
  const { unstable_getMiniflareWorkerOptions } = await import('wrangler')
  /** @type {{ workerOptions: Record<string, any> }} */
  const { workerOptions } = unstable_getMiniflareWorkerOptions(resolve(ROOT, config))
  return workerOptions
}

/** Files next to the configuration, and environment variables, that wrangler reads too. */
const FILES = /^\.(env|dev\.vars)(?!.*\.example$)/
const VARIABLES = /^CLOUDFLARE_(ENV|INCLUDE_PROCESS_ENV|LOAD_DEV_VARS_FROM_DOT_ENV)$/

/** Returns whether wrangler would answer from its configuration alone: then it is not started each time, which takes a second. */
export const isOnlyConfigured = (folder = ROOT, environment = process.env) =>
  !readdirSync(folder).some((name) => FILES.test(name)) &&
  !Object.keys(environment).some((name) => VARIABLES.test(name))

/** @param {string} config @param {string} bundle */
async function kept(config, bundle) {
  const file = join(bundle, config.replace(/\.toml$/, '.json'))
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    const asked = await workerOptionsOf(config)
    const written = `${file}.${process.pid}`
    writeFileSync(written, JSON.stringify(asked))
    renameSync(written, file)
    return asked
  }
}

/**
 * @param {string} config
 * @param {string} bundle the folder of the bundled Worker, which changes with the configuration; wrangler's answer is cached there
 * @returns {Promise<Record<string, any>>} without the address of a database, which is passed at each start
 */
export async function keptWorkerOptions(config, bundle) {
  const isKept = !isPackaged && isOnlyConfigured()
  const { hyperdrives: _, ...options } = isKept ? await kept(config, bundle) : await workerOptionsOf(config)
  return options
}
