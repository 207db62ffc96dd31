// Installs what is missing. Plain Node without packages, because it runs before there are any.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
function lockHash() {
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

/** Runs `npm ci` unless node_modules already holds what package-lock.json says; a package was installed with what it needs. */
export function installMissing() {
  if (isPackaged) return
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash()) return
  // Standard output belongs to the program that is about to run.
  console.error('Installing packages (once) …')
  const { status } = spawnSync('npm', ['ci', '--prefer-offline', ...cacheOption()], {
    cwd: root,
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    console.error('npm ci failed; see above.')
    process.exit(status ?? 1)
  }
  writeFileSync(stamp, lockHash())
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
