// Runs our own PostgreSQL: a cluster in a folder, on the loopback address, as a user other than root. It sorts by ICU, so
// that a missing COLLATE "C" is noticed, and trusts every connection. Only a temporary cluster turns durability off.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../ports.mjs'
import { inhabitants, postmasterOf } from './processes.mjs'

/** PostgreSQL and pgbouncer refuse to run as root; the user `nobody` exists everywhere. */ // prose-ignore
const NOBODY = { uid: 65_534, gid: 65_534 }
const identity = () => (process.getuid?.() === 0 ? NOBODY : {})

/** Durable, unless the folder is deleted with the server; a temporary one may be in memory, so its log stays small. */
const durability = (/** @type {boolean | undefined} */ isThrowaway) => {
  const value = isThrowaway ? 'off' : 'on'
  return {
    ...{ fsync: value, synchronous_commit: value, full_page_writes: value },
    max_wal_size: isThrowaway ? '1GB' : '4GB',
  }
}

const SETTINGS = {
  jit: 'off',
  max_connections: '500',
  shared_buffers: '128MB',
  listen_addresses: '127.0.0.1,::1',
  unix_socket_directories: '',
  logging_collector: 'off',
  timezone: 'UTC',
}

/** @param {import('./install.mjs').Installation} installation */
const environmentOf = (installation) => ({
  PATH: process.env.PATH,
  LC_ALL: 'C.UTF-8',
  LD_LIBRARY_PATH: [installation.libraries, join(installation.root, 'lib')].join(':'),
})

/** Creates a folder that the server's user owns and can reach. */
export function ownFolder(path) {
  mkdirSync(path, { recursive: true })
  const { uid, gid } = identity()
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
  chmodSync(path, 0o700)
  return path
}

function createCluster(installation, data, isThrowaway) {
  ownFolder(data)
  const locale = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US']
  const { status, stderr, error } = spawnSync(
    join(installation.bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', ...(isThrowaway ? ['--no-sync'] : []), ...locale],
    { cwd: '/', env: environmentOf(installation), encoding: 'utf8', ...identity() },
  )
  if (status !== 0) throw new Error(`initdb failed in ${data}:\n${error?.message ?? stderr}`)
}

export const urlOf = (port, database = 'postgres') => `postgresql://postgres:postgres@127.0.0.1:${port}/${database}`

/** Starts a program of the installation as a child that stops on request; its output is collected in memory. */
function runChild(installation, program, args, { readyWhen, stopSignal, what }) {
  const child = spawn(program, args, {
    cwd: '/',
    env: environmentOf(installation),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity(),
  })
  let said = ''
  const ended = new Promise((resolve) => child.once('close', resolve))
  const ready = new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said = (said + chunk).slice(-20_000)
      if (said.includes(readyWhen)) resolve(undefined)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${what} ended with ${code}:\n${said}`)))
  })
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill(stopSignal)
    await ended
  }
  return { ready, stop, ended, pid: child.pid, said: () => said }
}

/**
 * After a crash the backends live on for a moment, and the recorded process id may belong to another process; PostgreSQL
 * starts in neither case. So the actual processes of the folder are checked.
 */
async function clearAway(data) {
  const LIMIT = 200 // ten seconds
  for (let tries = 0; inhabitants(data).length > 0; tries++) {
    if (tries === LIMIT) throw new Error(`Processes ${inhabitants(data).join(', ')} still use ${data}; end them first.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  if (process.platform === 'linux') rmSync(join(data, 'postmaster.pid'), { force: true })
}

/**
 * Returns the arguments of a server; creates the cluster if the folder has none.
 *
 * @param {import('./install.mjs').Installation} installation
 * @param {{ data: string, port?: number, isThrowaway?: boolean }} options
 */
async function prepare(installation, { data, port, isThrowaway = false }) {
  if (!existsSync(join(data, 'PG_VERSION'))) createCluster(installation, data, isThrowaway)
  else if (runningServer(data) === null) await clearAway(data)
  const chosen = port ?? (await freePort())
  const settings = Object.entries({ ...SETTINGS, ...durability(isThrowaway), port: String(chosen) })
  return { chosen, flags: settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]) }
}

/**
 * Starts a server that runs on when this process exits.
 *
 * @param {import('./install.mjs').Installation} installation
 * @param {{ data: string, port?: number }} options
 */
export async function startInBackground(installation, { data, port }) {
  const { chosen, flags } = await prepare(installation, { data, port })
  const log = join(data, 'server.log')
  const quoted = flags.map((flag) => `'${flag}'`).join(' ')
  const { status, stderr } = spawnSync(
    join(installation.bin, 'pg_ctl'),
    ['-s', '-w', '-D', data, '-l', log, '-o', quoted, 'start'],
    {
      cwd: '/',
      env: environmentOf(installation),
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
      ...identity(),
    },
  )
  if (status !== 0) throw new Error(`PostgreSQL did not start, see ${log}:\n${stderr}`)
  return urlOf(chosen)
}

/** Linux ends the server with the process that started it, however that ends. */
function boundToParent(program) {
  const tool = '/usr/bin/setpriv'
  return process.platform === 'linux' && existsSync(tool) ? [tool, '--pdeathsig', 'INT', program] : [program]
}

/**
 * Starts a server as a child of this process.
 *
 * @param {import('./install.mjs').Installation} installation
 * @param {{ data: string, port?: number, isThrowaway?: boolean }} options isThrowaway: the data is deleted with the server, so durability is off
 */
export async function startServer(installation, { data, port, isThrowaway }) {
  const { chosen, flags } = await prepare(installation, { data, port, isThrowaway })
  const [program, ...args] = boundToParent(join(installation.bin, 'postgres'))
  const child = runChild(installation, program, [...args, '-D', data, ...flags], {
    readyWhen: 'ready to accept connections',
    stopSignal: 'SIGINT', // "fast": ends sessions, keeps data
    what: 'PostgreSQL',
  })
  await child.ready
  return { ...child, port: chosen, url: urlOf(chosen) }
}

/**
 * Starts pgbouncer in transaction mode in front of a server, which handles session state like Hyperdrive and other poolers.
 *
 * @param {import('./install.mjs').Installation} installation
 * @param {{ folder: string, target: number, sessions: number, port?: number }} options
 */
export async function startPgbouncer(installation, { folder, target, port, sessions }) {
  const chosen = port ?? (await freePort())
  ownFolder(folder)
  const file = join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: chosen,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    auth_type: 'any',
    default_pool_size: sessions,
    max_client_conn: 500,
    // Named statements are refused, as by every transaction pooler that does not track them.
    max_prepared_statements: 0,
    ignore_startup_parameters: 'extra_float_digits',
  }
  const known = Object.entries(settings).filter(
    ([name]) => name !== 'max_prepared_statements' || tracksStatements(installation),
  )
  writeFileSync(
    file,
    `[databases]\n* = host=127.0.0.1 port=${target} user=postgres\n\n[pgbouncer]\n${known.map(([name, value]) => `${name} = ${value}`).join('\n')}\n`,
    { mode: 0o644 },
  )
  const child = runChild(installation, installation.pgbouncer, [file], {
    readyWhen: 'process up',
    stopSignal: 'SIGTERM',
    what: 'pgbouncer',
  })
  await child.ready
  return { ...child, port: chosen, url: urlOf(chosen) }
}

/** pgbouncer supports the setting since 1.21. */
function tracksStatements(installation) {
  const { stdout } = spawnSync(installation.pgbouncer, ['--version'], {
    encoding: 'utf8',
    env: environmentOf(installation),
    ...identity(),
  })
  const [major, minor] = /(\d+)\.(\d+)/
    .exec(stdout ?? '')
    ?.slice(1)
    .map(Number) ?? [1, 0]
  return major > 1 || minor >= 21
}

/**
 * @param {string} data the folder of a cluster
 * @returns {{ pid: number, port: number, url: string } | null} the running server of the cluster, if any
 */
export function runningServer(data) {
  const found = postmasterOf(data)
  return found === null ? null : { ...found, url: urlOf(found.port) }
}
