// Bundles the Worker into one file with wrangler, as for an upload, and caches it until a source changes, so that the second start is
// fast.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILT, isPackaged } from '../../src/cli/place.mjs'
import { environment, root } from '../install.mjs'

const SOURCES = [
  ...['src', 'migrations', 'wrangler.toml', 'wrangler.postgres.toml'],
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

/** @param {string} outdir */
const runWrangler = (outdir) =>
  new Promise((resolve, reject) => {
    const wrangler = join(root, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
    const args = [wrangler, 'deploy', '--dry-run', '--env', '', '--outdir', outdir]
    // The home folder may be read-only, and wrangler's settings are not needed.
    const env = environment({ XDG_CONFIG_HOME: join(tmpdir(), 'commonplace-wrangler') })
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk
      })
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(undefined) : reject(new Error(`The Worker could not be built:\n${said}`)),
    )
  })

/**
 * @returns {Promise<string>} the folder with `index.js` and the text modules
 * @throws {Error} with the output of wrangler
 */
export async function bundleWorker() {
  if (isPackaged) return join(BUILT, 'worker')
  const cache = cacheFolder()
  const final = join(cache, fingerprint())
  if (existsSync(join(final, 'index.js'))) return final
  const building = mkdtempSync(join(cache, 'new-'))
  await runWrangler(building)
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

/** @param {string} name @returns {'Text' | 'CompiledWasm'} */
const typeOf = (name) => (name.endsWith('.sql') ? 'Text' : 'CompiledWasm')

/**
 * @param {string} folder of a bundle
 * @returns {{ type: 'ESModule' | 'Text' | 'CompiledWasm', path: string }[]} its modules in the form of Miniflare
 */
export const modulesOf = (folder) => [
  { type: 'ESModule', path: join(folder, 'index.js') },
  ...readdirSync(folder)
    .filter((name) => name.endsWith('.sql') || name.endsWith('.wasm'))
    .map((name) => ({ type: typeOf(name), path: join(folder, name) })),
]
