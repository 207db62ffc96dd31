import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../scripts/ports.mjs'
import { ROOT } from '../../support/build'
import { buildImage, type Image } from '../../support/dockerfile'
import { emptyDatabase } from '../../support/postgres'
import { INHERITED, type ServeProcess, serveProcess } from '../../support/serve-process'
import { writeTinyModel } from '../../support/tiny-model.mjs'

/** Installations without a checkout: the package from its tarball, and the container by the steps of its Dockerfile. */
const TOKEN = 'a-token-of-the-operator-of-this-test'
const folder = mkdtempSync(join(tmpdir(), 'commonplace-package-'))
chmodSync(folder, 0o755)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A model of a few kilobytes, run by what the package or the container has to run models. */
const BUILTIN = { EMBEDDING_PROVIDER: 'builtin', EMBEDDING_MODEL: writeTinyModel(join(folder, 'tiny')) }
const runtimeOf = async ({ origin }: ServeProcess): Promise<unknown> => {
  const ready = await (await fetch(`${origin}/ready`)).json()
  return (ready as { checks: Record<string, unknown> }).checks.embeddings
}

/** The Node that plays this test is the one that a container has. */
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)

/** Installs of packages, on a machine that does other work too. */
const PATIENCE = 900_000

describe('the package', () => {
  const place = join(folder, 'user')
  const data = join(folder, 'data')
  const home = join(folder, 'home')
  const npx = (...args: string[]) =>
    execFileSync('npx', ['--no-install', name, ...args], {
      cwd: place,
      encoding: 'utf8',
      env: { ...INHERITED, ...env },
    })
  const env = { HOME: home, COMMONPLACE_DATA: data, PATH }
  const { name }: { name: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  let server: ServeProcess
  beforeAll(async () => {
    for (const path of [place, home]) mkdirSync(path)
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' })
    const tarball = readdirSync(folder).find((one) => one.endsWith('.tgz')) ?? ''
    writeFileSync(join(place, 'package.json'), '{"private": true}')
    execFileSync('npm', ['install', '--no-save', '--prefer-offline', join(folder, tarball)], {
      cwd: place,
      stdio: 'pipe',
    })
    const port = await freePort()
    server = await serveProcess(['npx', '--no-install', name, '--port', String(port)], port, {
      cwd: place,
      env: { ...env, ...BUILTIN },
    })
  }, PATIENCE)
  afterAll(() => server?.stop())

  it('serves from its tarball in an empty folder, with data in the folder of the user, and builds nothing', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp/core`)))
    const kept = await client.callTool({ name: 'remember', arguments: { title: 'Packed', content: 'From a tarball' } })
    expect(kept.structuredContent).toMatchObject({ id: expect.any(Number) })
    await client.close()
    expect(server.said()).toContain(`Data is stored in ${join(data, 'state')}`)
    expect(readdirSync(data)).toEqual(expect.arrayContaining(['servers', 'state']))
    expect(readdirSync(join(place, 'node_modules'))).not.toContain('wrangler')
    expect(readdirSync(join(place, 'node_modules')).filter((one) => one.startsWith('onnxruntime'))).toEqual([])
    expect(await runtimeOf(server)).toEqual({ backend: 'builtin, wasm runtime', ok: true })
    const notices = readFileSync(join(place, 'node_modules', name, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    expect(notices).toMatch(/^hono \S+\nLicense: MIT$/m)
  })

  it('is a bridge for clients that only start programs, and finds the server that runs here by itself', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const program = join(place, 'node_modules', '.bin', name)
    await client.connect(new StdioClientTransport({ command: program, args: ['stdio'], env, stderr: 'ignore' }))
    const { content } = await client.callTool({ name: 'context', arguments: { goal: 'what came from a tarball?' } })
    expect(JSON.stringify(content)).toContain('Packed')
    await client.close()
  })

  it('answers what a program has written before it closed its end', () => {
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/list' }
    const input = `${JSON.stringify(message)}\n`
    const out = execFileSync('npx', ['--no-install', name, 'stdio'], {
      cwd: place,
      env: { ...INHERITED, ...env },
      input,
    })
    expect(JSON.parse(out.toString())).toMatchObject({ id: 7, result: { tools: expect.any(Array) } })
  })

  it('sets a client up, and exports and checks what is stored', () => {
    expect(npx('setup', 'cursor')).toContain(join(home, '.cursor', 'mcp.json'))
    expect(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8')).toContain(`${server.origin}/mcp/core`)
    const file = join(folder, 'export.ndjson')
    npx('export', '--out', file)
    expect(npx('verify', file)).toMatch(/complete/)
    expect(readFileSync(file, 'utf8')).toContain('From a tarball')
  })

  it('lets the plugins of clients stay where the cache of npx is cleared', () => {
    npx('setup', 'opencode', '--capture')
    const plugin = readFileSync(join(home, '.config', 'opencode', 'plugins', 'commonplace.js'), 'utf8')
    expect(plugin).toContain(join(data, 'marketplace', 'plugins', 'commonplace'))
  })
})

describe('the container', () => {
  let image: Image
  beforeAll(async () => {
    image = await buildImage(join(folder, 'container'))
    // Exists on every system, for every user.
    mkdirSync(join(image.root, 'tmp'))
    chmodSync(join(image.root, 'tmp'), 0o777)
  }, PATIENCE)
  const uid = process.getuid?.() === 0 ? 1000 : undefined
  const run = async (more: Record<string, string>) => {
    const port = await freePort()
    const command = image.command.map((word) => (word === '8787' ? String(port) : word))
    return serveProcess(command, port, {
      cwd: image.workdir,
      env: {
        PATH,
        ...image.environment,
        HOME: image.root,
        TMPDIR: join(image.root, 'tmp'),
        ADMIN_TOKEN: TOKEN,
        ...more,
      },
      ...(uid !== undefined && { uid }),
    })
  }
  const administer = (server: ServeProcess, path: string, body: object) =>
    fetch(`${server.origin}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it('holds built files only, and serves with keys as a user who is not root, healthy by its own check', async () => {
    expect(readdirSync(image.workdir)).not.toContain('test')
    expect(readdirSync(join(image.workdir, 'src'))).not.toContain('index.ts')
    expect(image.user).not.toBe('root')
    const server = await run(BUILTIN)
    expect(await runtimeOf(server)).toEqual({ backend: 'builtin, native runtime', ok: true })
    expect((await fetch(`${server.origin}/mcp`, { method: 'POST' })).status).toBe(401)
    expect((await administer(server, '/orgs', { id: 'boxed', name: 'Boxed' })).status).toBe(201)
    const [node = '', ...args] = image.healthCheck
    const check = args.map((arg) => arg.replace('http://127.0.0.1:8787', server.origin))
    execFileSync(node, check, { env: { PATH } })
    await server.stop()
    // An upgrade is a new container with the same volume.
    const next = await run(BUILTIN)
    expect((await administer(next, '/orgs', { id: 'boxed', name: 'Boxed' })).status).toBe(409)
    await next.stop()
    expect(() => execFileSync(node, check, { env: { PATH }, stdio: 'pipe' })).toThrow()
    expect(readdirSync(join(image.root, 'data'))).toContain('state')
  })

  it('keeps everything but images in the PostgreSQL of compose.yaml, which it migrates first', async () => {
    const database = await emptyDatabase()
    const url = `${database.url}${database.url.includes('?') ? '&' : '?'}sslmode=disable`
    const server = await run({ STORAGE_BACKEND: 'postgresql', DATABASE_URL: url })
    const ready = await (await fetch(`${server.origin}/ready`)).json()
    expect(ready).toMatchObject({ status: 'ready', checks: { database: { backend: 'postgresql', ok: true } } })
    expect((await administer(server, '/orgs', { id: 'boxed', name: 'Boxed' })).status).toBe(201)
    await server.stop()
    const next = await run({ STORAGE_BACKEND: 'postgresql', DATABASE_URL: url })
    expect((await administer(next, '/orgs', { id: 'boxed', name: 'Boxed' })).status).toBe(409)
    await next.stop()
    await database.drop()
  })
})
