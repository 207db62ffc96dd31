import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOllamaEmbedder, createOllamaLanguageModel, createOllamaReranker } from '../../src/adapters/ollama/models'
import { createSummarizer } from '../../src/services/writing/entries/generate'
import { describeEmbedder } from '../contracts/embedder'
import { breaksOff, deadUrl, type ModelServer, notJson, replies, silent } from '../fakes/model-server'
import { type FakeOllama, startOllama } from '../fakes/ollama'
import { createTestTiming } from '../fakes/timing'

/** The adapters against a server that speaks Ollama. */
let server: ModelServer

beforeEach(async () => {
  server = await startOllama()
})

afterEach(async () => {
  await server.close()
})

const restart = async (fake: FakeOllama): Promise<void> => {
  await server.close()
  server = await startOllama(fake)
}

const embedder = (model = 'a-model', dimensions = 8, options = {}) =>
  createOllamaEmbedder({ host: server.url, model, dimensions }, { ...createTestTiming(), ...options })

const summarizer = (options = {}) =>
  createSummarizer(
    createOllamaLanguageModel(
      { host: server.url, model: 'a-model', maxTokens: 200 },
      { ...createTestTiming(), ...options },
    ),
  )

const reranker = (model = 'a-model') => createOllamaReranker({ host: server.url, model }, createTestTiming())

describe('embeddings', () => {
  describeEmbedder(() => ({
    embedder: embedder(),
    provider: 'ollama',
    model: 'a-model',
    dimensions: 8,
    requests: () => server.received.length,
  }))

  it('are requested in batches, with truncation', async () => {
    await embedder().embed(
      Array.from({ length: 20 }, (_, i) => `text ${i}`),
      'document',
    )
    expect(server.received.map(({ path, body }) => [path, body.model, body.input.length, body.truncate])).toEqual([
      ['/api/embed', 'a-model', 16, true],
      ['/api/embed', 'a-model', 4, true],
    ])
  })

  it('mark queries for models that were trained so', async () => {
    await restart({ models: ['qwen3-embedding:0.6b'] })
    const qwen = embedder('qwen3-embedding:0.6b')
    await qwen.embed(['why?'], 'query')
    await qwen.embed(['why?'], 'document')
    expect(server.received.map(({ body }) => body.input[0])).toEqual([
      'Instruct: Given a search query, retrieve relevant passages that answer the query\nQuery: why?',
      'why?',
    ])
  })

  it('name the command that installs a missing model', async () => {
    await expect(embedder('other').embed(['text'], 'document')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Ollama does not have the model other; run: ollama pull other',
    })
    expect(server.received).toHaveLength(1)
  })

  it('name the program to start when nothing listens', async () => {
    const dead = createOllamaEmbedder({ host: await deadUrl(), model: 'm', dimensions: 8 }, createTestTiming())
    await expect(dead.embed(['text'], 'query')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Ollama cannot be reached; start Ollama (ollama serve) or set OLLAMA_HOST',
    })
  })

  it('name the right EMBEDDING_DIM when it differs from the model', async () => {
    await expect(embedder('a-model', 1024).embed(['text'], 'document')).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'EMBEDDING_DIM is 1024, but the model a-model returned 8 numbers; ' +
        'set EMBEDDING_DIM=8 or choose another EMBEDDING_MODEL',
    })
  })

  it.each([
    ['a wrong number of vectors', { embeddings: [[1, 2]] }, 'Ollama returned 1 vectors for 2 texts; try again'],
    ['no vectors', { error: 'odd' }, 'Ollama returned 0 vectors for 2 texts; try again'],
    [
      'numbers that are none',
      {
        embeddings: [
          [1, null],
          [1, 2],
        ],
      },
      'Ollama returned something that is not a vector; try again',
    ],
  ])('are refused: %s', async (_name, json, message) => {
    server.fail(replies({ json }))
    await expect(embedder('a-model', 2).embed(['one', 'two'], 'document')).rejects.toMatchObject({
      code: 'unavailable',
      message,
    })
  })

  it('survive passing faults', async () => {
    server.fail(replies({ status: 429, headers: { 'retry-after': '1' }, json: {} }), breaksOff)
    expect(await embedder().embed(['text'], 'document')).toHaveLength(1)
    server.fail(silent, notJson)
    expect(await embedder('a-model', 8, { tryMs: 1000 }).embed(['text'], 'document')).toHaveLength(1)
    expect(server.received).toHaveLength(6)
  })

  it('cut a text that the model cannot read, and only that one', async () => {
    await restart({ context: 1000 })
    const long = 'word '.repeat(1000)
    const [, short] = await embedder().embed([long, 'short'], 'document')
    expect(short).toEqual((await embedder().embed(['short'], 'document'))[0])
    expect(server.received.slice(0, 4).map(({ body }) => body.input[0].length)).toEqual([5000, 2500, 1250, 625])
  })

  it('give up cutting when the length is not the reason', async () => {
    await restart({ context: 1 })
    await expect(embedder().embed(['word '.repeat(400)], 'document')).rejects.toMatchObject({
      message:
        'Ollama refused a text longer than a-model can read; set a smaller CHUNK_SIZE or a model with a longer context',
    })
  })
})

describe('summaries', () => {
  it('come from the chat without streaming and without reasoning', async () => {
    expect(await summarizer().summarize('A long text.', 'agent')).toBe('A summary.')
    const { path, body } = server.received[0] as (typeof server.received)[number]
    expect(path).toBe('/api/chat')
    expect(body).toMatchObject({
      model: 'a-model',
      stream: false,
      think: false,
      options: { num_predict: 200 },
      messages: [{ role: 'system' }, { role: 'user' }],
    })
    expect(body.messages[1].content).toContain('\nA long text.\n')
  })

  it('are stripped of reasoning, and nothing else is a failure', async () => {
    await restart({ answer: '<think>Let me see.</think>\n\nThe point.' })
    expect(await summarizer().summarize('text', 'user')).toBe('The point.')
    await restart({ answer: '<think>I never come to' })
    await expect(summarizer().summarize('text', 'user')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Ollama returned no summary; raise SUMMARY_MAX_TOKENS or choose another SUMMARY_MODEL',
    })
  })

  it('are tried once', async () => {
    server.fail(replies({ status: 500, json: {} }))
    await expect(summarizer().summarize('text', 'user')).rejects.toMatchObject({ code: 'unavailable' })
    server.fail(silent)
    await expect(summarizer({ tryMs: 500 }).summarize('text', 'user')).rejects.toMatchObject({ reason: 'timeout' })
    expect(server.received).toHaveLength(2)
  })
})

describe('reranking', () => {
  it.each(['/api/rerank', '/v1/rerank'])('finds the endpoint %s and remembers it', async (rerankPath) => {
    await restart({ rerankPath })
    const ranks = reranker()
    expect(await ranks.rerank('query', ['a'.repeat(30), 'b'.repeat(70), ''])).toEqual([0.3, 0.7, 0])
    const asked = server.received.length
    await ranks.rerank('query', ['one'])
    expect(server.received).toHaveLength(asked + 1)
    expect(server.received.at(-1)).toMatchObject({
      path: rerankPath,
      body: { model: 'a-model', query: 'query', documents: ['one'], top_n: 1 },
    })
  })

  it('names the setting to change without an endpoint', async () => {
    await expect(reranker().rerank('query', ['one'])).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('This Ollama has no rerank endpoint; set RERANKING_PROVIDER=openai'),
    })
    expect(server.received.map(({ path }) => path)).toEqual(['/api/rerank', '/v1/rerank'])
  })

  it('distinguishes a missing model from a missing endpoint', async () => {
    await restart({ rerankPath: '/api/rerank' })
    await expect(reranker('other').rerank('query', ['one'])).rejects.toMatchObject({
      message: 'Ollama does not have the model other; run: ollama pull other',
    })
  })

  it('makes no request when there is nothing to rank', async () => {
    expect(await reranker().rerank('query', [])).toEqual([])
    expect(server.received).toHaveLength(0)
  })
})
