// Installs what is missing. Plain Node without packages, because it runs before there are any.
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

/** The Node that wrangler and vitest need (22.12 or newer): the npm package `node`, else the one that runs this. */
export function nodePath() {
  const packaged = binaryOfPackage()
  if (packaged !== null && existsSync(packaged)) return packaged
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath
  console.error(
    `Node.js 22.12 or newer is needed, and this is ${process.version}: install it, or let npm bring it (npm ci --include=optional).`,
  )
  process.exit(1)
}

/** Of everything that is installed: a release changes the version of this package alone. */
export function lockHash() {
  const own = /^(\{\s*"name": "[^"]+",\s*"version": )"[^"]+"|("": \{\s*"name": "[^"]+",\s*"version": )"[^"]+"/g
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8').replace(own, '')
  return createHash('sha256').update(lock).digest('hex')
}

/** npm keeps what it fetched in the home folder, which may be closed. */
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

/** Packages that tests, checks and releases need, and serving does not. The built-in model has its native runtime at the full installation. */
export const DEVELOPMENT_ONLY =
  /^(@anthropic-ai\/mcpb|@biomejs\/|@cloudflare\/(vitest-plugin|workers-types)|@electric-sql\/|@js-joda\/|@modelcontextprotocol\/(conformance|server-memory)|@types\/|axe-core|commonmark\.json|fast-check|onnxruntime-node|playwright-core|redos-detector|typescript|vitest)/

/** The manifest and the lock file without the packages of development. @param {string} manifest @param {string} lock */
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

/** Megabytes that an installation unpacks, measured on Linux; other systems differ by a few. */
const MEGABYTES = { serving: 690, all: 1200 }

/** Bytes of the files below a folder that is being filled. @param {string} folder @returns {number} */
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
 * What a person sees of an installation. The time that is left is estimated once a tenth has arrived: before that the rate says nothing.
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
 * Shows how an installation proceeds, since npm reports nothing until it is done: one line that changes in a terminal, else a line in
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

/** Whether node_modules holds what package-lock.json says. @param {'serving' | 'all'} what */
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

/** Installs into a folder of its own and moves it, so that a broken installation is never found half done. */
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
 * Installs what is missing of the lock file: everything, or only what serving needs. A package was installed with what it needs.
 *
 * @param {'serving' | 'all'} [what]
 */
export async function installMissing(what = 'all') {
  if (isPackaged || isInstalled(what)) return
  // A checkout that had the packages of development keeps them.
  const hadAll = existsSync(stamp) && !readFileSync(stamp, 'utf8').startsWith('serving ')
  const isServing = what === 'serving' && !hadAll
  // Standard output belongs to the program that is about to run.
  console.error(
    isServing
      ? 'Installing the packages that serving needs (once) …'
      : 'Installing the packages of development (once) …',
  )
  const began = Date.now()
  // A server may run from the packages of serving: they stay, and the others are added.
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

/** Environment in which package binaries find the right Node. */
export function environment(extra = {}) {
  const separator = process.platform === 'win32' ? ';' : ':'
  return {
    ...process.env,
    PATH: `${join(root, 'node_modules', '.bin')}${separator}${process.env.PATH}`,
    WRANGLER_SEND_METRICS: 'false',
    // No look at the registry for a newer version.
    WRANGLER_HIDE_BANNER: 'true',
    // In the place of the home folder, which may be closed.
    WRANGLER_LOG_PATH: join(tmpdir(), 'commonplace-wrangler'),
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // A `wrangler dev` of ours opens no database explorer and keeps no traces.
    X_LOCAL_EXPLORER: 'false',
    X_LOCAL_OBSERVABILITY: 'false',
    ...extra,
  }
}

// npm calls this after every install in a checkout, so that an install by hand is not repeated.
if (process.argv[2] === 'stamp') writeFileSync(stamp, lockHash())
