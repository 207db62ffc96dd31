// `npm run test:node`: tests a fresh clone under Node 20, 22 and 24. Each version comes from npm into a temporary folder
// and is the only `node` on the PATH; then the promises of the README are tested: install, start, store, command line, types.
// Takes minutes and needs npm's registry, so it is not part of `npm test`.
import './local-vectors.mjs'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root } from './install.mjs'
import { freePort } from './ports.mjs'

const VERSIONS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24']
const folder = mkdtempSync(join(tmpdir(), 'commonplace-node-'))

/** @param {string} command @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} [options] */
function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}:\n${error?.message ?? ''}${stdout}${stderr}`)
  return String(stdout)
}

/** Clones the last commit, and returns an environment in which one version is the only Node. @param {string} version */
function prepare(version) {
  const tools = join(folder, `node-${version}`)
  mkdirSync(tools, { recursive: true })
  run('npm', ['install', '--prefix', tools, '--no-save', '--no-package-lock', `node@${version}`])
  const npm = dirname(run('sh', ['-c', 'command -v npm']).trim())
  const clone = join(folder, `clone-${version}`)
  run('git', ['clone', '--quiet', '--no-hardlinks', root, clone])
  const PATH = [join(tools, 'node_modules', 'node', 'bin'), npm, '/usr/bin', '/bin'].join(delimiter)
  const { npm_config_prefix: _, npm_lifecycle_event: __, ...inherited } = process.env
  return { cwd: clone, env: { ...inherited, PATH } }
}

/** Runs `npm start` until it is ready. @param {{ cwd: string, env: NodeJS.ProcessEnv }} place @param {number} port */
async function start({ cwd, env }, port) {
  const child = spawn('npm', ['start'], { cwd, env: { ...env, PORT: String(port) }, detached: true })
  let said = ''
  await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk
        if (said.includes('Commonplace is ready')) resolve(undefined)
      })
    child.once('exit', (code) => reject(new Error(`npm start exited with ${code}:\n${said}`)))
  })
  return () => new Promise((resolve) => child.once('exit', resolve) && process.kill(-Number(child.pid), 'SIGTERM'))
}

/** @param {number} port */
async function storeOne(port) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'store_context', arguments: { thread_id: 't', source: 'agent', text: 'kept' } },
  })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const text = await (await fetch(`http://localhost:${port}/mcp`, { method: 'POST', headers, body })).text()
  if (!text.includes('"context_id":1')) throw new Error(`Storing answered:\n${text}`)
}

/** Throws if something fails. @param {string} version */
async function tryVersion(version) {
  const place = prepare(version)
  const found = run('node', ['--version'], place).trim()
  const port = await freePort()
  const stop = await start(place, port)
  try {
    await storeOne(port)
    const made = run('npm', ['run', '-s', 'commonplace', '--', 'keys', 'create', 'cursor'], place)
    if (!made.startsWith('cp_')) throw new Error(`keys create printed:\n${made}`)
  } finally {
    await stop()
  }
  run('npm', ['run', '-s', 'check'], place)
  // Without npm, on this Node version: pipelines may run migrations like that.
  const { status, stderr } = spawnSync('node', ['src/cli/migrate-postgres.mjs', 'postgresql://u@127.0.0.1:9/d'], {
    ...place,
    encoding: 'utf8',
  })
  if (status !== 1 || !stderr.includes('The server does not listen there'))
    throw new Error(`migrate-postgres said:\n${stderr}`)
  rmSync(place.cwd, { recursive: true, force: true })
  return found
}

let failed = false
for (const version of VERSIONS)
  try {
    const started = performance.now()
    const found = await tryVersion(version)
    console.log(`✓ ${found}  ${Math.round((performance.now() - started) / 1000)} s`)
  } catch (error) {
    failed = true
    console.log(`✗ Node ${version}\n${error.message}`)
  }
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
process.exit(failed ? 1 : 0)
