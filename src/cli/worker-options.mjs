// How does the simulator of Cloudflare on this machine bind the Worker? As wrangler reads its configuration; in a package, as it was read
// when that was packed, so that nobody who installs it needs wrangler.
import { readFileSync } from 'node:fs'
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
