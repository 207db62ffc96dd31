import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBuiltinModel } from '../../scripts/serve/model/builtin-model.mjs'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import type { OpenedServer, Surroundings } from '../support/server'
import { writeTinyModel } from '../support/tiny-model.mjs'

/** The server while its model is downloaded, when it arrives, and until every entry has a vector of it. */
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
const ENTRY = { thread_id: 't', source: 'user' }
/** As scripts/serve/builtin.mjs notifies the schedule. */
const READY = 'the built-in model is ready'

export function describeArrival(
  start: (vars: Record<string, string>, surroundings: Surroundings) => Promise<OpenedServer>,
): void {
  let folder: string
  let host: ReturnType<typeof createBuiltinModel>
  let server: OpenedServer
  let client: TestClient
  let isHere = false
  /** Passages wait for it. */
  const gate = Promise.withResolvers<void>()

  const model = async (request: Request): Promise<Response> => {
    if (!isHere) return Response.json({ state: 'downloading', name: 'tiny-words', received: 30, total: 100 })
    const copy = request.clone()
    const isPassage = request.method === 'POST' && ((await request.json()) as { kind: string }).kind === 'passage'
    if (isPassage) await gate.promise
    return host.fetch(copy)
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-arrival-'))
    host = createBuiltinModel({
      name: writeTinyModel(folder, { config: { levels: { nothing: 0.1, answer: 0.9 } } }),
      models: folder,
      tell: () => {},
    })
    host.begin()
    await new Promise<void>((resolve) => host.onReady(resolve))
    const vars = { EMBEDDING_PROVIDER: 'builtin', EMBEDDING_MODEL: folder, EMBEDDING_FAILURE: 'defer' }
    server = await start(vars, { model })
    client = await connect(server.url)
  })
  afterAll(async () => {
    gate.resolve()
    await client?.close()
    await server?.stop()
    await host?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('[THREADS-134] makes vectors of the built-in model for entries stored before it arrived, and reports how many entries wait', async () => {
    const search = async (tool: string, args: object) => (await client.call(tool, { ...args })).data
    for (const text of ['purchase a vehicle', 'the physician']) await client.call('store_context', { ...ENTRY, text })
    const { checks } = (await (await fetch(new URL('/ready', server.url))).json()) as {
      checks: Record<string, unknown>
    }
    expect(checks.embeddings).toEqual({
      ...{ backend: 'builtin', ok: false },
      problem: 'The model tiny-words is being downloaded (30 %); "local" is used until then',
    })
    expect((await search('semantic_search_context', { query: 'vehicles', limit: 1 })).results[0].text_content).toBe(
      'purchase a vehicle',
    )
    const { semantic_search: before } = await search('get_statistics', {})
    expect(before).toMatchObject({ provider: 'local', waiting_count: 0, message: expect.stringContaining('30 %') })

    const overview = async () => (await fetch(new URL('/', server.url), { headers: { accept: 'text/html' } })).text()
    expect(await overview()).toContain('The model tiny-words is being downloaded (30 %)')

    isHere = true
    const run = server.schedule(READY)
    await expect
      .poll(async () => (await search('get_statistics', {})).semantic_search.provider, { timeout: 30_000 })
      .toBe('builtin')
    expect((await search('get_statistics', {})).semantic_search).toMatchObject({ context_count: 0, waiting_count: 2 })
    const waiting = expect.stringContaining('2 entries have no vectors of the configured model yet')
    const hybrid = await search('hybrid_search_context', { query: 'physician' })
    expect([hybrid.results[0].text_content, hybrid.warnings]).toEqual(['the physician', [waiting]])
    expect((await search('context_recall', { query: 'physician' })).warnings).toEqual([waiting])
    expect((await search('context', { goal: 'physician' })).markdown).toContain('2 entries have no vectors')

    expect(await overview()).toContain('2 memories found by words only')

    gate.resolve()
    await run
    await fetch(new URL('/ready', server.url))
    await expect
      .poll(async () => (await search('semantic_search_context', { query: 'buy a car', limit: 1 })).warnings)
      .toBeUndefined()
    const after = await search('semantic_search_context', { query: 'buy a car', limit: 1 })
    expect(after.results[0].text_content).toBe('purchase a vehicle')
    expect((await search('get_statistics', {})).semantic_search).toMatchObject({ context_count: 2, waiting_count: 0 })
    expect(await overview()).not.toContain('found by words only')
  })
}
