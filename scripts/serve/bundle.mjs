// Builds the Worker as for an upload, and caches it until a source changes, so that the second start is fast.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { BUILT, isPackaged } from '../../src/cli/place.mjs'
import { buildWorker } from '../build.mjs'
import { root } from '../install.mjs'

const SOURCES = [
  ...['src', 'migrations', 'scripts/build.mjs', 'wrangler.toml', 'wrangler.postgres.toml'],
  ...['tsconfig.json', 'package.json', 'package-lock.json'],
]

/** @param {string} path @returns {string[]} */
const filesIn = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .flatMap((name) => filesIn(join(path, name)))
    : [path]

/** @returns {string} a hash of every file that the Worker is bundled from or bound with */
function fingerprint() {
  const hash = createHash('sha256')
  for (const file of SOURCES.flatMap((name) => filesIn(join(root, name)))) hash.update(file).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

/**
 * The cache folder: COMMONPLACE_BUNDLES, else in the checkout, or if that is read-only, next to other
 * temporary files.
 */
function cacheFolder() {
  const own = process.env.COMMONPLACE_BUNDLES || join(root, '.wrangler', 'bundles')
  try {
    mkdirSync(own, { recursive: true })
    return own
  } catch {
    return mkdtempSync(join(tmpdir(), 'commonplace-'))
  }
}

/**
 * @returns {Promise<string>} the folder with `index.js` and the other modules
 * @throws {Error} with the messages of the bundler
 */
export async function bundleWorker() {
  if (isPackaged) return join(BUILT, 'worker')
  const cache = cacheFolder()
  const final = join(cache, fingerprint())
  if (existsSync(join(final, 'index.js'))) return final
  const building = mkdtempSync(join(cache, 'new-'))
  await buildWorker(building)
  for (const name of readdirSync(cache).filter((one) => !one.startsWith('new-') && join(cache, one) !== final))
    rmSync(join(cache, name), { recursive: true, force: true })
  try {
    renameSync(building, final)
  } catch {
    if (!existsSync(join(final, 'index.js'))) return building
    rmSync(building, { recursive: true, force: true }) // another start was faster
  }
  return final
}

/** @type {Record<string, 'ESModule' | 'Text' | 'CompiledWasm'>} */
const TYPES = { '.js': 'ESModule', '.sql': 'Text', '.wasm': 'CompiledWasm' }

/**
 * @param {string} folder of a bundle
 * @returns {{ type: 'ESModule' | 'Text' | 'CompiledWasm', path: string }[]} its modules in the form of Miniflare, the main one first
 */
export const modulesOf = (folder) =>
  readdirSync(folder)
    .sort((a, b) => Number(b === 'index.js') - Number(a === 'index.js'))
    .flatMap((name) => {
      const type = TYPES[extname(name)]
      return type === undefined ? [] : [{ type, path: join(folder, name) }]
    })
