// Installs missing packages. Plain Node without packages, because it runs before any are installed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isPackaged, ROOT } from '../src/cli/place.mjs'

export const root = `${ROOT}/`
const stamp = join(root, 'node_modules', '.commonplace-lock')

function binaryOfPackage() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json')
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    return null // not installed
  }
}

/** The Node that wrangler and vitest need (22.12 or newer): the npm package `node`, else the running one. */
export function nodePath() {
  const packaged = binaryOfPackage()
  if (packaged !== null && existsSync(packaged)) return packaged
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath
  console.error(
    `Node.js 22.12 or newer is required, but this is ${process.version}: install it, or let npm install it (npm ci --include=optional).`,
  )
  process.exit(1)
}

/** Hash of the dependencies: a release changes only the version of this package. */
export function lockHash() {
  const own = /^(\{\s*"name": "[^"]+",\s*"version": )"[^"]+"|("": \{\s*"name": "[^"]+",\s*"version": )"[^"]+"/g
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8').replace(own, '')
  return createHash('sha256').update(lock).digest('hex')
}

/** npm's cache is in the home folder, which may be read-only. */
function cacheOption() {
  const usual = process.env.npm_config_cache ?? join(homedir(), '.npm')
  try {
    mkdirSync(usual, { recursive: true })
    accessSync(usual, constants.W_OK)
    return []
  } catch {
    return ['--cache', join(tmpdir(), 'commonplace-npm')]
  }
}

/** Packages for tests, checks and releases, which serving does not need. The full installation includes the native runtime of the built-in model. */
export const DEVELOPMENT_ONLY =
  /^(@anthropic-ai\/mcpb|@biomejs\/|@cloudflare\/(vitest-plugin|workers-types)|@electric-sql\/|@js-joda\/|@modelcontextprotocol\/(conformance|server-memory)|@types\/|axe-core|commonmark\.json|fast-check|@seriousme\/|onnxruntime-node|playwright-core|redos-detector|typescript|vitest)/

/** Returns the manifest and the lock file without development packages. @param {string} manifest @param {string} lock */
export function servingFiles(manifest, lock) {
  const without = (/** @type {any} */ { scripts: _, bundleDependencies: __, devDependencies, ...rest }) => ({
    ...rest,
    devDependencies: Object.fromEntries(
      Object.entries(devDependencies).filter(([name]) => !DEVELOPMENT_ONLY.test(name)),
    ),
  })
  const { packages, ...rest } = JSON.parse(lock)
  return {
    manifest: JSON.stringify(without(JSON.parse(manifest)), null, 2),
    lock: JSON.stringify({ ...rest, packages: { ...packages, '': without(packages['']) } }, null, 2),
  }
}

/** Unpacked size of an installation in megabytes on Linux; other systems differ by a few. */
const MEGABYTES = { serving: 740, all: 1200 }

/** Returns the bytes of the files in a folder that is being filled. @param {string} folder @returns {number} */
function bytesIn(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return sum + bytesIn(path)
      return entry.isFile() ? sum + statSync(path).size : sum
    }, 0)
  } catch {
    return 0 // moved meanwhile
  }
}

/**
 * Formats the progress of an installation as a line of text. The remaining time is estimated after a tenth; before that the rate is meaningless.
 *
 * @param {number} done megabytes @param {number} total megabytes @param {number} seconds since the start
 */
export function progressLine(done, total, seconds) {
  if (done === 0) return `  fetching the list of packages, ${seconds} s`
  const share = done / total
  const left = Math.max(1, Math.round((seconds * (1 - share)) / share))
  const estimate = share < 0.1 ? '' : share >= 0.97 ? ', almost done' : `, about ${left} s left`
  return `  ${done} of about ${total} MB unpacked, ${seconds} s${estimate}`
}

/**
 * Shows the progress of an installation, since npm reports nothing until it is done: an updated line in a terminal, else a line in
 * ten seconds.
 *
 * @param {string} folder of the packages
 * @param {number} total megabytes
 * @returns {() => void} ends it
 */
function showArrival(folder, total) {
  const began = Date.now()
  const before = Math.round(bytesIn(folder) / 1e6)
  const isTerminal = process.stderr.isTTY === true
  const timer = setInterval(
    () => {
      const seconds = Math.round((Date.now() - began) / 1000)
      const done = Math.max(0, Math.round(bytesIn(folder) / 1e6) - before)
      const line = progressLine(done, total - before, seconds)
      process.stderr.write(isTerminal ? `\r\u001b[2K${line}` : `${line}\n`)
    },
    isTerminal ? 2000 : 10_000,
  )
  return () => {
    clearInterval(timer)
    if (isTerminal) process.stderr.write('\r\u001b[2K')
  }
}

/** Returns whether node_modules matches package-lock.json. @param {'serving' | 'all'} what */
function isInstalled(what) {
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  return found === lockHash() || (what === 'serving' && found === `serving ${lockHash()}`)
}

/** Runs npm and resolves to its exit code. @param {readonly string[]} args @param {string} cwd @param {string} folder @param {number} total megabytes */
function npm(args, cwd, folder, total) {
  return new Promise((resolve) => {
    const end = showArrival(folder, total)
    const isWindows = process.platform === 'win32'
    const stdio = /** @type {const} */ (['ignore', process.stderr.fd, process.stderr.fd])
    const child = spawn('npm', [...args], { cwd, stdio: [...stdio], shell: isWindows })
    child.once('error', (error) => {
      end()
      console.error(error.message)
      resolve(1)
    })
    child.once('exit', (code) => {
      end()
      resolve(code ?? 1)
    })
  })
}

/** Installs into a temporary folder and moves it, so that an aborted installation is never used. */
async function installServing() {
  const text = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8')
  const { manifest, lock } = servingFiles(text('package.json'), text('package-lock.json'))
  const folder = join(root, '.wrangler', 'install')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), manifest)
  writeFileSync(join(folder, 'package-lock.json'), lock)
  cpSync(join(root, '.npmrc'), join(folder, '.npmrc'))
  const args = ['ci', '--prefer-offline', ...cacheOption()]
  const status = await npm(args, folder, join(folder, 'node_modules'), MEGABYTES.serving)
  if (status !== 0) return status
  rmSync(join(root, 'node_modules'), { recursive: true, force: true })
  renameSync(join(folder, 'node_modules'), join(root, 'node_modules'))
  rmSync(folder, { recursive: true, force: true })
  writeFileSync(stamp, `serving ${lockHash()}`)
  return 0
}

/**
 * Installs missing packages of the lock file: all, or only those for serving. A published package has its dependencies.
 *
 * @param {'serving' | 'all'} [what]
 */
export async function installMissing(what = 'all') {
  if (isPackaged || isInstalled(what)) return
  // A checkout with development packages keeps them.
  const hadAll = existsSync(stamp) && !readFileSync(stamp, 'utf8').startsWith('serving ')
  const isServing = what === 'serving' && !hadAll
  // Standard output is reserved for the program that runs next.
  console.error(
    isServing ? 'Installing the packages of the server (once) …' : 'Installing the development packages (once) …',
  )
  const began = Date.now()
  // A server may use the packages: they are not removed, and the others are added.
  const command = isInstalled('serving') ? ['install', '--no-save'] : ['ci']
  const all = [...command, '--prefer-offline', ...cacheOption()]
  const status = isServing ? await installServing() : await npm(all, root, join(root, 'node_modules'), MEGABYTES.all)
  if (status !== 0) {
    console.error('npm ci failed; see above.')
    process.exit(status)
  }
  if (!isServing) writeFileSync(stamp, lockHash())
  console.error(`Installed in ${Math.round((Date.now() - began) / 1000)} s.`)
}

/** Returns the environment in which package binaries find the right Node. */
export function environment(extra = {}) {
  const separator = process.platform === 'win32' ? ';' : ':'
  return {
    ...process.env,
    PATH: `${join(root, 'node_modules', '.bin')}${separator}${process.env.PATH}`,
    WRANGLER_SEND_METRICS: 'false',
    // Disables the update check in the registry.
    WRANGLER_HIDE_BANNER: 'true',
    // Replaces the home folder, which may be read-only.
    WRANGLER_LOG_PATH: join(tmpdir(), 'commonplace-wrangler'),
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // Disables the database explorer and traces of `wrangler dev`.
    X_LOCAL_EXPLORER: 'false',
    X_LOCAL_OBSERVABILITY: 'false',
    ...extra,
  }
}

// npm runs this after every install in a checkout, so that a manual install is not repeated.
if (process.argv[2] === 'stamp') writeFileSync(stamp, lockHash())
