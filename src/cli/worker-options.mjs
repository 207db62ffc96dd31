// How does the simulator of Cloudflare on this machine bind the Worker? As wrangler reads its configuration; in a package, as it was read
// when that was packed, so that nobody who installs it needs wrangler.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BUILT, isPackaged, ROOT } from './place.mjs'

/** @param {string} config @param {string} folder where it was built @returns {string} */
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

/** Files beside the configuration, and variables of the environment, of which wrangler makes something too. */
const FILES = /^\.(env|dev\.vars)(?!.*\.example$)/
const VARIABLES = /^CLOUDFLARE_(ENV|INCLUDE_PROCESS_ENV|LOAD_DEV_VARS_FROM_DOT_ENV)$/

/** Whether wrangler would answer by its configuration alone: then it need not be asked at each start, which is a second of work. */
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
 * @param {string} bundle the folder of the Worker that is bound, which changes with the configuration: what wrangler answered is kept there
 * @returns {Promise<Record<string, any>>} without the address of a database, which is said at each start
 */
export async function keptWorkerOptions(config, bundle) {
  const isKept = !isPackaged && isOnlyConfigured()
  const { hyperdrives: _, ...options } = isKept ? await kept(config, bundle) : await workerOptionsOf(config)
  return options
}
