import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../scripts/ports.mjs'
import { ADMIN_TOKEN } from '../support/access'
import { CLIENTS, type Connect } from '../support/clients'
import { runCommand } from '../support/command'
import { type DevServer, failToStart, groupLives, serverProcess, startDevServer } from '../support/dev-server'
import { writeTinyModel } from '../support/tiny-model.mjs'

/** The first ten minutes of a user: the output of `npm start`, its options, its ports and its files. */
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
const PATIENCE = { timeout: 30_000, interval: 100 }

/** Ports on which the processes of a group listen, on Linux. */
function portsOf(group: number): number[] {
  const inodes = new Set<string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]) !== group) continue
      for (const fd of readdirSync(`/proc/${pid}/fd`)) inodes.add(readlinkSync(`/proc/${pid}/fd/${fd}`))
    } catch {
      // Exited meanwhile.
    }
  }
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => readFileSync(table, 'utf8').split('\n'))
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.has(`socket:[${inode}]`))
    .map(([, local]) => Number.parseInt(local?.split(':')[1] as string, 16))
}

describe('npm start', () => {
  let folder: string
  let server: DevServer | undefined
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-start-'))
  })
  afterEach(async () => {
    await server?.stop()
    server = undefined
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))

  it('answers wrong usage in one line, before it starts anything', async () => {
    const [port, option, variable] = await Promise.all([
      failToStart([], { PORT: 'abc' }),
      failToStart(['--speed', 'high']),
      failToStart(['--var', 'LOG_LEVEL']),
    ])
    expect(port).toEqual({ code: 2, said: 'PORT is "abc"; it must be a number from 1 to 65535.' })
    expect([option.code, option.said]).toEqual([
      2,
      expect.stringMatching(/^Unknown option '--speed'; npm start accepts .*$/),
    ])
    expect([variable.code, variable.said]).toEqual([2, expect.stringMatching(/^--var is "LOG_LEVEL"; write .*$/)])
  })

  it('refuses to serve other machines without keys', async () => {
    // Both names of the option: unit/serve-arguments.
    const { code, said } = await failToStart(['--ip', '0.0.0.0'], { PORT: String(await freePort()), AUTH_MODE: '' })
    expect([code, said]).toEqual([
      2,
      expect.stringMatching(/^Without keys \(AUTH_MODE=open\) only this machine is served.*$/),
    ])
  })

  it('ends at once with every problem of its configuration', async () => {
    const args = ['--var', 'EMBEDDING_PROVIDER:banana', '--var', 'CHUNK_SIZE:7', '--persist-to', join(folder, 'bad')]
    const { code, said } = await failToStart(args, { PORT: String(await freePort()) })
    expect([code, said.split('\n').length]).toEqual([1, 1])
    expect(said).toMatch(/EMBEDDING_PROVIDER is "banana".*CHUNK_SIZE is "7"/)
  })

  it('names the process that uses the port', async () => {
    const other = createServer((_, response) => response.end('hello'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const taken = await failToStart([], { PORT: String(port) })
    other.close()
    expect([taken.code, taken.said]).toEqual([
      1,
      expect.stringMatching(`^Port ${port} is in use.*; use another: npm start -- --port \\d+$`),
    ])
    if (process.platform === 'linux') expect(taken.said).toContain(`(process ${process.pid}: `)
  })

  it('reports at once that the port for a debugger is in use', async () => {
    const other = createServer((_, response) => response.end('hello'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const env = { PORT: String(await freePort()) }
    const taken = await failToStart(['--inspector-port', String(port)], env)
    other.close()
    expect([taken.code, taken.said]).toEqual([
      1,
      expect.stringMatching(
        `^Port ${port} \\(--inspector-port\\) is in use.*; use another: npm start -- --inspector-port \\d+$`,
      ),
    ])
    const same = await failToStart(['--inspector-port', env.PORT], env)
    expect([same.code, same.said]).toEqual([1, expect.stringContaining('which is the port of the server')])
  })

  it('requires keys with --var, reads a file of variables, opens no other access to its data, and records no traces', async () => {
    const [data, file] = [join(folder, 'doors'), join(folder, 'variables')]
    writeFileSync(file, `ADMIN_TOKEN=${ADMIN_TOKEN}\n`)
    const args = ['--env-file', file, '--var', 'AUTH_MODE:required', '--var', 'LOG_LEVL:DEBUG']
    server = await startDevServer(data, 'start', { AUTH_MODE: 'open', ADMIN_TOKEN: '' }, args)
    expect(server.output()).toMatch(
      /Every request needs a key \(AUTH_MODE=required\)\. To make one, set ADMIN_TOKEN and run: .* orgs create ORG, then .* keys create NAME/,
    )
    expect(server.output()).toContain('--var LOG_LEVL has no effect: the variable is unknown')
    expect(server.output()).not.toContain('AUTH_MODE sets nothing')
    expect((await fetch(server.url, { method: 'POST', body: '{}' })).status).toBe(401)
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    expect((await fetch(new URL('/api/v1/orgs', server.url), { headers })).status).toBe(200)
    if (process.platform !== 'linux') return
    const ports = portsOf(await serverProcess(server.url))
    expect(ports).toContain(Number(server.url.port))
    expect(ports).not.toContain(9229)
    const DOORS = [
      '/cdn-cgi/local/explorer',
      '/cdn-cgi/local/explorer/api/d1/database',
      '/cdn-cgi/local/scheduled?cron=*',
      '/cdn-cgi/local/email',
      '/cdn-cgi/local/r2/public/commonplace-images/images/0',
      '/cdn-cgi/local/platform-proxy',
      '/cdn-cgi/mf/scheduled',
      '/__scheduled',
      '/json',
    ]
    for (const port of ports)
      for (const path of DOORS) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(10_000) })
        expect([path, answer.ok]).toEqual([path, false])
      }
    // Wrangler's dev server would keep a trace of each of these calls in a store of its own.
    const files = readdirSync(data, { recursive: true }).map(String)
    expect(files.some((name) => name.includes('D1DatabaseObject'))).toBe(true)
    expect(files.filter((name) => /trace|wobs|observab/i.test(name))).toEqual([])
  })

  it('counts other machines by the addresses of their connections, whatever they write of them', async () => {
    const args = ['--ip', '0.0.0.0', '--var', 'AUTH_MODE:required', '--var', `ADMIN_TOKEN:${ADMIN_TOKEN}`]
    server = await startDevServer(join(folder, 'machines'), 'start', {}, args)
    const { port } = server.url
    const register = (localAddress: string, n: number) =>
      new Promise<number>((resolve, reject) => {
        const forged = {
          'mf-cf-blob': '{"colo":"X"}',
          'cf-connecting-ip': `203.0.113.${n}`,
          'x-forwarded-for': `10.0.0.${n}`,
        }
        const headers = { 'content-type': 'application/json', ...forged }
        const place = { host: '127.0.0.1', port, path: '/register', method: 'POST', headers, localAddress }
        const sent = request(place, (answer) => resolve(answer.resume().statusCode ?? 0))
        sent.on('error', reject)
        sent.end(JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/back'], token_endpoint_auth_method: 'none' }))
      })
    const crowd = await Promise.all(Array.from({ length: 150 }, (_, n) => register('127.0.0.2', n)))
    expect([...new Set(crowd)].sort()).toEqual([201, 429])
    expect(await register('127.0.0.1', 0)).toBe(201)
  })

  it('serves from a read-only home, reports its mode, is found by the command line, knows its own kind, leaves nothing running when its parent is killed, and has kept what was acknowledged', async () => {
    const data = join(folder, 'home')
    // The Worker was built from such a home, too: `support/build.ts`.
    server = await startDevServer(data, 'start', { HOME: '/dev/null/home', XDG_CONFIG_HOME: '' })
    expect(server.output()).toMatch(/Open to this machine only, without a key \(AUTH_MODE=open\)/)
    expect(server.output()).not.toMatch(/warn/i)
    const { code, out } = await runCommand(['orgs', 'list'])
    expect([code, out]).toEqual([0, expect.stringContaining('local')])
    // One resolution for every command: an own home holds no configuration.
    const { out: state } = await runCommand(['status', '--json'], { HOME: data })
    expect(JSON.parse(state)).toMatchObject({ from: 'the running server' })
    const samePort = await failToStart([], { PORT: server.url.port })
    expect(samePort).toMatchObject({
      code: 1,
      said: expect.stringContaining('is in use by Commonplace, which already serves'),
    })
    const sameData = await failToStart(['--persist-to', data], { PORT: String(await freePort()) })
    expect(sameData).toMatchObject({ code: 1, said: expect.stringContaining(`already served at ${server.url}`) })

    const group = await serverProcess(server.url)
    const client = await connect(server.url)
    const { data: stored } = await client.call('store_context', {
      thread_id: 't',
      source: 'user',
      text: 'kept in elephants',
    })
    await client.close()
    process.kill(server.npm, 'SIGKILL')
    await vi.waitFor(() => expect(groupLives(group)).toBe(false), PATIENCE)

    server = await startDevServer(data)
    const again = await connect(server.url)
    const { data: found } = await again.call('fts_search_context', { query: 'elephants' })
    await again.close()
    expect(found.results[0].id).toBe(stored.context_id)
    const process2 = await serverProcess(server.url)
    process.kill(process2, 'SIGKILL')
    await vi.waitFor(
      () =>
        expect([groupLives(process2), server?.output()]).toEqual([false, expect.stringContaining('ended by SIGKILL')]),
      PATIENCE,
    )
  })
})

describe('the built-in model of npm start', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-builtin-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))

  const readiness = async (server: DevServer) => (await fetch(new URL('/ready', server.url))).json()

  it('makes vectors of entries stored with local, and finds an answer in other words than the question', async () => {
    const data = join(folder, 'again')
    const store = { thread_id: 't', source: 'user' }
    const local = await startDevServer(data)
    const before = await connect(local.url)
    await before.call('store_context', { ...store, text: 'purchase a vehicle' })
    await before.call('store_context', { ...store, text: 'the physician' })
    await before.close()
    await local.stop()
    const model = writeTinyModel(join(folder, 'tiny'))
    const server = await startDevServer(data, 'start', { EMBEDDING_PROVIDER: 'builtin', EMBEDDING_MODEL: model })
    const client = await connect(server.url)
    const statistics = async () => (await client.call('get_statistics', {})).data.semantic_search
    await vi.waitFor(async () => expect((await statistics()).coverage_percentage).toBe(100), PATIENCE)
    expect(await statistics()).toMatchObject({ provider: 'builtin', model: 'tiny-words', waiting_count: 0 })
    const { data: found } = await client.call('semantic_search_context', { query: 'buy a car', limit: 1 })
    expect(found.results[0].text_content).toBe('purchase a vehicle')
    expect(await readiness(server)).toMatchObject({
      checks: { embeddings: { backend: 'builtin, native runtime', ok: true } },
    })
    await client.close()
    await server.stop()
  })

  it('[THREADS-133] opens no connection beyond loopback in a start of npm test', async () => {
    const quiet = await startDevServer(join(folder, 'quiet'))
    expect(await readiness(quiet)).not.toHaveProperty('checks.embeddings')
    await quiet.stop()
    // The same start without the variable that all tests set: it would download a model, and that is noticed.
    const env = { EMBEDDING_PROVIDER: '', COMMONPLACE_MODELS: join(folder, 'models') }
    const loud = await startDevServer(join(folder, 'loud'), 'start', env, [], true)
    await vi.waitFor(() => expect(loud.connections().join()).toContain('huggingface.co'), PATIENCE)
    const said = /! The model all-MiniLM-L6-v2 is not available, so "local" is used: .*huggingface\.co/
    await vi.waitFor(() => expect(loud.output()).toMatch(said), PATIENCE)
    const client = await connect(loud.url)
    await client.call('store_context', { thread_id: 't', source: 'user', text: 'kept without a model' })
    const { data: found } = await client.call('semantic_search_context', { query: 'kept without models', limit: 1 })
    expect(found.results[0].text_content).toBe('kept without a model')
    await client.close()
    expect(await readiness(loud)).toMatchObject({
      status: 'ready',
      checks: {
        embeddings: {
          backend: 'builtin',
          ok: false,
          problem: expect.stringMatching(/so "local" is used; commonplace doctor reports why$/),
        },
      },
    })
    await loud.stop()
  })
})
