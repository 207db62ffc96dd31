// The Worker as one file, made by wrangler exactly as for an upload, and kept until a source changes: the second start is then
// as fast as the runtime.
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

/** @returns {string} that changes with every file the Worker is made and bound of */
function fingerprint() {
  const hash = createHash('sha256')
  for (const file of SOURCES.flatMap((name) => filesIn(join(root, name)))) hash.update(file).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

/**
 * A folder for what can be made again: COMMONPLACE_BUNDLES, else in the checkout, or where that cannot be written to, beside other
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
    // Its settings are not asked for, and the home folder may be closed.
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
 * @returns {Promise<string>} the folder with `index.js` and the text modules beside it
 * @throws {Error} with what wrangler said
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
 * @returns {{ type: 'ESModule' | 'Text' | 'CompiledWasm', path: string }[]} its modules as Miniflare takes them
 */
export const modulesOf = (folder) => [
  { type: 'ESModule', path: join(folder, 'index.js') },
  ...readdirSync(folder)
    .filter((name) => name.endsWith('.sql') || name.endsWith('.wasm'))
    .map((name) => ({ type: typeOf(name), path: join(folder, name) })),
]
