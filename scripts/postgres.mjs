// `node scripts/postgres.mjs <command>`: a real PostgreSQL with pgvector on this machine, without installing anything.
//   install downloads the programs if they are missing
//   start   starts it in the background, if it is not running, and prints its URL      [--data DIR] [--port N]
//   stop    stops it; the data is not deleted                                          [--data DIR]
//   serve   runs it until stdin ends or a signal arrives; prints one line of JSON with its URLs
//           [--data DIR, else a temporary folder, so that durability is off] [--port N] [--pgbouncer: a transaction
//           pooler in front, if it is installed]
//   pglite  the same with PGlite from npm: one session, no locks, for machines where PostgreSQL is not available
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from './install.mjs'
import { installPostgres } from './postgres/install.mjs'
import { runningServer, startInBackground, startPgbouncer, startServer } from './postgres/server.mjs'

/** Returns whether the user of the server may enter all parent folders. */
function reachable(path) {
  if (process.getuid?.() !== 0) return true
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 1) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

/** Folder of the databases of this checkout; COMMONPLACE_POSTGRES_DATA sets another one. */
export function dataFolder() {
  const own = process.env.COMMONPLACE_POSTGRES_DATA ?? join(root, '.wrangler', 'postgres')
  if (reachable(own)) return own
  return join('/var/tmp', `commonplace-postgres-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`)
}

/** Exits with the parent process, however that ends: its pipe closes. */
const untilTold = () =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(undefined))
    process.stdin.on('end', () => resolve(undefined)).on('error', () => resolve(undefined))
    process.stdin.resume()
  })

function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-postgres-'))
  chmodSync(folder, 0o755)
  return folder
}

/** Waits for a server that is stopping; if it does not stop, another user runs it. */
async function untilFree(data) {
  for (let tries = 0; runningServer(data) !== null; tries++) {
    if (tries === 200)
      throw new Error(`A server is already running on ${data}; use it: DATABASE_URL=${runningServer(data)?.url}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Connections of the database that PgBouncer shares: its default; in tests few enough that clients really share them. */
const SESSIONS = 20
const FEW_SESSIONS = 4

async function serve({ data, port, pgbouncer }) {
  const told = untilTold()
  if (data !== undefined) await untilFree(data)
  const installation = installPostgres()
  const scratch = temporaryFolder()
  const server = await startServer(installation, {
    data: data ?? join(scratch, 'data'),
    port,
    isThrowaway: data === undefined,
  })
  const pooler =
    pgbouncer && existsSync(installation.pgbouncer)
      ? await startPgbouncer(installation, {
          ...{ folder: join(scratch, 'pgbouncer'), target: server.port },
          sessions: data === undefined ? FEW_SESSIONS : SESSIONS,
        })
      : null
  console.log(JSON.stringify({ url: server.url, ...(pooler ? { pooledUrl: pooler.url } : {}) }))
  await Promise.race([told, server.ended])
  await pooler?.stop()
  await server.stop()
  rmSync(scratch, { recursive: true, force: true })
}

/** Starts a server that outlives this command. */
async function start({ data, port }) {
  const running = runningServer(data)
  if (running === null) mkdirSync(dirname(data), { recursive: true })
  console.log(running?.url ?? (await startInBackground(installPostgres(), { data, port })))
}

async function stop({ data }) {
  const running = runningServer(data)
  if (running === null) return console.error('No server is running there.')
  process.kill(running.pid, 'SIGINT')
  await untilFree(data)
}

async function pglite() {
  const told = untilTold()
  const { servePglite } = await import('./postgres/pglite.mjs')
  const server = await servePglite()
  console.log(JSON.stringify({ url: server.url }))
  await told
  await server.close()
  process.exit(0)
}

const COMMANDS = { install: async () => void installPostgres(), start, stop, serve, pglite }

/**
 * Starts this program as a child, which exits with its parent.
 *
 * @param {string[]} args
 * @returns {Promise<{ url: string, pooledUrl?: string, pid: number, stop: () => Promise<void> }>}
 */
export async function spawnServer(...args) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let problems = ''
  child.stderr.on('data', (chunk) => {
    problems += chunk
    process.stderr.write(chunk)
  })
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => text),
    ended.then(() => Promise.reject(new Error(problems.trim()))),
  ])
  const stop = async () => {
    child.stdin.end()
    await ended
  }
  return { ...JSON.parse(line), pid: child.pid, stop }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { data: { type: 'string' }, port: { type: 'string' }, pgbouncer: { type: 'boolean' } },
  })
  const command = COMMANDS[positionals[0] ?? '']
  if (command === undefined || positionals.length > 1) {
    console.error(
      'usage: node scripts/postgres.mjs install|start|stop|serve|pglite [--data DIR] [--port N] [--pgbouncer]',
    )
    process.exit(2)
  }
  const data = values.data && resolve(values.data)
  try {
    await command({
      data: command === serve ? data : (data ?? dataFolder()),
      port: values.port === undefined ? undefined : Number(values.port),
      pgbouncer: values.pgbouncer,
    })
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}
