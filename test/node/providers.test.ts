import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModelServer, replies } from '../fakes/model-server'
import { startOllama } from '../fakes/ollama'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/** The complete product with a server that speaks Ollama: vectors, summaries and reranking by models. */
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect

interface World {
  readonly ollama: ModelServer
  readonly server: RunningServer
  readonly client: TestClient
  ok(name: string, args?: Record<string, unknown>): Promise<Awaited<ReturnType<TestClient['call']>>['data']>
  end(): Promise<void>
}

const LONG = `The deployment of release 1.4 failed because the database migration took a lock. ${'We then looked at the logs for a long time. '.repeat(20)}`

const MODELS = ['embedder', 'writer', 'judge']

async function startWorld(
  vars: Record<string, string> = {},
  fake: Parameters<typeof startOllama>[0] = {},
): Promise<World> {
  const ollama = await startOllama({ models: MODELS, rerankPath: '/api/rerank', ...fake })
  const server = await startPlace({
    OLLAMA_HOST: ollama.url,
    EMBEDDING_PROVIDER: 'ollama',
    EMBEDDING_MODEL: 'embedder',
    EMBEDDING_DIM: '8',
    SUMMARY_PROVIDER: 'ollama',
    SUMMARY_MODEL: 'writer',
    RERANKING_PROVIDER: 'ollama',
    RERANKING_MODEL: 'judge',
    ...vars,
  })
  const client = await connect(server.url)
  return {
    ollama,
    server,
    client,
    async ok(name, args) {
      const { data, isError, text } = await client.call(name, args)
      if (isError) throw new Error(`${name}: ${text}`)
      return data
    },
    async end() {
      await client.close()
      await server.stop()
      await ollama.close()
    },
  }
}

const draft = (text: string, more: Record<string, unknown> = {}) => ({ thread_id: 't', source: 'agent', text, ...more })

describe('with models behind Ollama', () => {
  let world: World
  /** The server's data of them. */
  const models = [...MODELS]
  beforeAll(async () => {
    world = await startWorld({}, { models, answer: '<think>hm</think>Release 1.4 failed on a migration lock.' })
  })
  afterAll(() => world.end())

  it('[THREADS-146] summarizes long texts, keeps the summary of a repeated store and clears it for a short text', async () => {
    const stored = await world.ok('store_context', draft(LONG))
    expect(stored.message).toBe('Context stored (embedding generated, summary generated)')
    const again = await world.ok('store_context', draft(LONG))
    expect(again.message).toBe('Context updated (summary preserved)')
    const [entry] = (await world.ok('search_context', { thread_id: 't' })).results
    expect(entry.summary).toBe('Release 1.4 failed on a migration lock.')
    const short = await world.ok('update_context', { context_id: stored.context_id, text: 'Now it is short.' })
    expect(short).toMatchObject({
      updated_fields: ['text_content', 'summary', 'embedding'],
      message: 'Successfully updated 3 field(s) (embedding regenerated, summary cleared)',
    })
    const long = await world.ok('update_context', { context_id: stored.context_id, text: LONG })
    expect(long.message).toBe('Successfully updated 3 field(s) (embedding regenerated, summary regenerated)')
    const stats = await world.ok('get_statistics')
    expect(stats.summary).toMatchObject({ enabled: true, provider: 'ollama', model: 'writer', summary_count: 1 })
    expect(stats.semantic_search).toMatchObject({ provider: 'ollama', model: 'embedder', dimensions: 8 })
  })

  it('[THREADS-145] orders by the score of the cross-encoder if one is configured', async () => {
    for (const text of ['short apple', 'a somewhat longer text about an apple', 'apple'])
      await world.ok('store_context', draft(text, { thread_id: 'apples' }))
    for (const tool of ['fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const { results } = await world.ok(tool, { query: 'apple', thread_id: 'apples' })
      const scores = results.map((entry: { scores: { rerank_score: number } }) => entry.scores.rerank_score)
      expect([tool, results[0].text_content]).toEqual([tool, 'a somewhat longer text about an apple'])
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
    }
  })

  it('fails in a batch what needs vectors that it does not make, names the first of it, and does the rest where the batch is not atomic', async () => {
    const { client, ollama, ok } = world
    const call = (name: string, args: Record<string, unknown>) => {
      ollama.fail(replies({ status: 400, json: { error: 'no' } }))
      return client.call(name, args)
    }
    const ids: number[] = []
    for (const text of ['one', 'two']) ids.push((await ok('store_context', draft(text))).context_id)
    const [one, two] = ids
    const updates = [
      { context_id: one, tags: ['a'] },
      { context_id: two, text: 'two anew', tags: ['lost'] },
      { context_id: two, metadata: { kept: true } },
    ]
    const failure = {
      success: false,
      error: expect.stringMatching(/^Generation failed: embedding: /),
      code: 'unavailable',
    }
    const refused = await call('update_context_batch', { updates })
    expect(refused.data.error).toMatchObject({ code: 'unavailable', retryable: true })
    expect(refused.data.error.message).toMatch(/^Generation failed at index 1: embedding: /)
    expect(refused.data.results).toEqual([{ index: 1, context_id: two, updated_fields: null, ...failure }])
    const partly = await call('update_context_batch', { updates, atomic: false })
    expect(partly.data).toMatchObject({ success: false, succeeded: 2, message: 'Updated 2/3 entries successfully' })
    expect(partly.data.results).toMatchObject([{ success: true }, { index: 1, ...failure }, { success: true }])
    const { result } = await ok('get_context_by_ids', { context_ids: ids })
    expect(result).toMatchObject([
      { version: 2, tags: ['a'] },
      { version: 2, tags: [], metadata: { kept: true }, text_content: 'two' },
    ])
    const entries = [draft('three'), { ...draft('four'), source: 'nobody' }]
    const stored = await call('store_context_batch', { entries, atomic: false })
    expect(stored.isError).toBe(false)
    expect(stored.data).toMatchObject({ succeeded: 0, failed: 2, message: 'All entries failed validation' })
    expect(stored.data.results).toMatchObject([failure, { code: 'invalid_input' }])
    const both = await call('store_context_batch', { entries: [draft('three'), draft('four')] })
    expect(both.data.error.message).toMatch(/^Generation failed at index 0: embedding: /)
    expect(both.data.results).toHaveLength(2)
  })

  it('[THREADS-148] never fails a write for its summary', async () => {
    models.splice(0, models.length, 'embedder')
    const thread_id = 'without a writer'
    try {
      const stored = await world.ok('store_context', draft(LONG, { thread_id }))
      expect(stored.message).toBe('Context stored (embedding generated, summary queued)')
      const [entry] = (await world.ok('search_context', { thread_id })).results
      expect(entry.summary).toBe('')
      // Nor is it made later.
      await world.ok('delete_context', { context_ids: [stored.context_id] })
    } finally {
      models.push('writer', 'judge')
    }
  })

  it('names the setting to change when the dimension differs from the configuration', async () => {
    world.ollama.fail(replies({ json: { model: 'embedder', embeddings: [Array(16).fill(0.25)] } }))
    const { data } = await world.client.call('store_context', draft('of another dimension'))
    expect(data.error.message).toContain('set EMBEDDING_DIM=16')
  })
})

describe('without the model of vectors', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ SUMMARY_PROVIDER: 'none' }, { models: [] })
  })
  afterAll(() => world.end())

  it('[THREADS-128] fails a write and stores nothing when its embeddings cannot be made', async () => {
    const { data, isError } = await world.client.call('store_context', draft('words'))
    expect(isError).toBe(true)
    expect(data.error).toMatchObject({ code: 'unavailable', retryable: true })
    expect(data.error.message).toMatch(/^Generation failed: embedding: .*ollama pull embedder/)
    const batch = await world.client.call('store_context_batch', { entries: [draft('a'), draft('b')] })
    expect(batch.data.error.message).toMatch(/^Generation failed at index 0: embedding: /)
    expect((await world.ok('search_context', { thread_id: 't' })).total).toBe(0)
    const query = await world.client.call('semantic_search_context', { query: 'x' })
    expect(query.data.error.message).toMatch(/^Failed to generate embedding for query/)
  })

  it('stores memories of layers 1 and 2, by context_store and by remember, while the embedder fails, and queues their vectors', async () => {
    const memory = { content: 'a fabric walrus', type: 'bug_fix', metadata: { projectPath: '/p' }, layer: 2 }
    expect((await world.ok('context_store', memory)).layer).toBe(2)
    await world.ok('remember', { title: 'walrus', content: 'a remembered walrus', kind: 'gotcha' })
    const semantic = await world.client.call('context_store', { ...memory, content: 'a shared walrus', layer: 3 })
    expect([semantic.isError, semantic.data.code]).toEqual([true, 'UNAVAILABLE'])
    expect((await world.ok('fts_search_context', { query: 'walrus' })).count).toBe(2)
    const { semantic_search, pending_work } = await world.ok('get_statistics')
    expect([semantic_search.coverage_percentage, pending_work.pending]).toEqual([0, 2])
  })
})

describe('without any model, where writes do not wait for vectors', () => {
  let world: World
  beforeAll(async () => {
    const vars = { SUMMARY_PROVIDER: 'none', EMBEDDING_FAILURE: 'defer', RERANKING_MODEL: 'no-judge' }
    world = await startWorld(vars, { models: [] })
  })
  afterAll(() => world.end())

  it('[THREADS-129] stores without vectors in deferred mode and finds the entry by words at once', async () => {
    const stored = await world.ok('store_context', draft('a deferred walrus'))
    expect(stored.message).toBe('Context stored (embedding queued)')
    expect(stored.warnings).toEqual([expect.stringContaining('Some vectors are not ready yet')])
    expect((await world.ok('fts_search_context', { query: 'walrus' })).count).toBe(1)
    const stats = await world.ok('get_statistics')
    expect(stats.semantic_search.coverage_percentage).toBe(0)
    expect(stats.pending_work.pending).toBeGreaterThan(0)
  })

  it('[THREADS-141] answers from the retriever that works, with a warning', async () => {
    await world.ok('store_context', draft('a lonely puffin'))
    const found = await world.ok('hybrid_search_context', { query: 'puffin' })
    expect(found).toMatchObject({ count: 1, search_modes_used: ['fts'], semantic_count: 0 })
    expect(found.warnings).toEqual([
      'Semantic leg failed; results are based on full text only',
      'Reranking failed; results are in their first order',
    ])
    expect(found.results[0].scores).toMatchObject({ rerank_score: null, semantic_rank: null })
  })
})

describe('when a model stops in the middle of a call', () => {
  let world: World | undefined
  afterAll(() => world?.end())

  it('stores a batch of which a model embedded a part, reports that, finds all of it by words at once and by meaning once the rest is embedded', async () => {
    const manages = { left: 40 }
    world = await startWorld({ SUMMARY_PROVIDER: 'none', EMBEDDING_FAILURE: 'defer' }, { manages })
    const entries = Array.from({ length: 100 }, (_, i) => draft(`walrus ${i} ${'of the northern sea '.repeat(20)}`))
    const stored = await world.ok('store_context_batch', { entries })
    expect(stored).toMatchObject({ success: true, succeeded: 100, failed: 0 })
    expect(stored.message).toBe('Stored 100/100 entries successfully (embeddings generated, embeddings queued)')
    expect(stored.warnings).toHaveLength(1)
    expect((await world.ok('fts_search_context', { query: 'walrus 99' })).results[0].text_content).toContain('99')
    const before = await world.ok('get_statistics')
    expect(before.semantic_search.coverage_percentage).toBeGreaterThanOrEqual(20)
    expect(before.semantic_search.coverage_percentage).toBeLessThanOrEqual(40)
    manages.left = Number.POSITIVE_INFINITY
    for (let next: number | null = 0; next !== null; ) {
      const answer: Response = await fetch(new URL(`/api/v1/reembed?after=${next}`, world.server.url), {
        method: 'POST',
      })
      expect(answer.status).toBe(200)
      next = ((await answer.json()) as { next: number | null }).next
    }
    expect((await world.ok('get_statistics')).semantic_search.coverage_percentage).toBe(100)
  })
})
