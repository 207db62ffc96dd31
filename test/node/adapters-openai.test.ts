import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOpenAiEmbedder, createOpenAiLanguageModel, createOpenAiReranker } from '../../src/adapters/openai/models'
import { createSummarizer } from '../../src/services/writing/entries/generate'
import { describeEmbedder } from '../contracts/embedder'
import { breaksOff, deadUrl, type ModelServer, notJson, replies, silent } from '../fakes/model-server'
import { type FakeOpenAi, startOpenAi } from '../fakes/openai'
import { createTestTiming } from '../fakes/timing'
import { vectorOf } from '../fakes/vectors'

/** The adapters against a server that speaks OpenAI's protocol. */
let server: ModelServer

beforeEach(async () => {
  server = await startOpenAi()
})

afterEach(async () => {
  await server.close()
})

const restart = async (fake: FakeOpenAi): Promise<void> => {
  await server.close()
  server = await startOpenAi(fake)
}

const settings = (model: string, apiKey: string | null = null) => ({ base: `${server.url}/v1`, apiKey, model })

const embedder = ({ model = 'a-model', dimensions = 8, apiKey = null as string | null, tryMs = 10_000 } = {}) =>
  createOpenAiEmbedder({ ...settings(model, apiKey), dimensions }, { ...createTestTiming(), tryMs })

const summarizer = (model = 'a-model') =>
  createSummarizer(createOpenAiLanguageModel({ ...settings(model), maxTokens: 200 }, createTestTiming()))

const reranker = (model = 'a-model') => createOpenAiReranker(settings(model), createTestTiming())

describe('embeddings', () => {
  describeEmbedder(() => ({
    embedder: embedder(),
    provider: 'openai',
    model: 'a-model',
    dimensions: 8,
    requests: () => server.received.length,
  }))

  it('are put into the order of the texts, whatever order they come in', async () => {
    const [one, two] = await embedder().embed(['one', 'two'], 'document')
    const ratio = (vector: readonly number[] | Float32Array) => (vector[0] as number) / (vector[1] as number)
    expect(ratio(one as Float32Array)).toBeCloseTo(ratio(vectorOf('one', 8)), 4)
    expect(ratio(two as Float32Array)).toBeCloseTo(ratio(vectorOf('two', 8)), 4)
  })

  it('are requested in batches, with the key', async () => {
    await restart({ key: 'sk-1' })
    await embedder({ apiKey: 'sk-1' }).embed(
      Array.from({ length: 40 }, (_, i) => `text ${i}`),
      'document',
    )
    expect(server.received.map(({ body }) => body.input.length).sort()).toEqual([32, 8])
    for (const { path, headers, body } of server.received) {
      expect([path, headers.authorization]).toEqual(['/v1/embeddings', 'Bearer sk-1'])
      expect(body).not.toHaveProperty('dimensions')
    }
  })

  it('of the text-embedding-3 family are requested in the configured size', async () => {
    await restart({ models: ['text-embedding-3-small'], dimensions: 1536 })
    const [vector] = await embedder({ model: 'text-embedding-3-small', dimensions: 256 }).embed(['text'], 'document')
    expect(vector).toHaveLength(256)
    expect(server.received[0]?.body.dimensions).toBe(256)
  })

  it('need no key when the server wants none', async () => {
    await embedder().embed(['text'], 'document')
    expect(server.received[0]?.headers.authorization).toBeUndefined()
  })

  it('name the missing setting when the key is refused, and never show the key', async () => {
    await restart({ key: 'sk-right' })
    const refused = embedder({ apiKey: 'sk-wrong-key' }).embed(['text'], 'document')
    const error = (await refused.catch((caught: unknown) => caught)) as Error
    expect(error).toMatchObject({
      code: 'unavailable',
      message: 'The OpenAI-compatible server refused the key; set OPENAI_API_KEY',
    })
    expect(`${error.stack} ${String(error.cause)}`).not.toContain('sk-wrong-key')
    expect(String(error.cause)).toContain('Incorrect API key provided: Bearer ***')
    expect(server.received).toHaveLength(1)
  })

  it.each([
    [
      'a missing model',
      { status: 404, json: { error: { message: 'The model `m` does not exist', code: 'model_not_found' } } },
      'The OpenAI-compatible server does not have the model a-model; set EMBEDDING_MODEL to one that it has',
    ],
    [
      'a wrong base',
      { status: 404, json: { detail: 'Not Found' } },
      'The OpenAI-compatible server has no such endpoint; check OPENAI_API_BASE',
    ],
    [
      'a used-up quota',
      { status: 429, json: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } } },
      'The OpenAI-compatible server says that the quota of this key is used up',
    ],
    [
      'a model that the key may not use',
      { status: 403, json: { error: { message: 'no access' } } },
      'The OpenAI-compatible server does not let this key use a-model; check OPENAI_API_KEY and EMBEDDING_MODEL',
    ],
  ])('are not tried again after %s', async (_name, reply, message) => {
    server.fail(replies(reply))
    await expect(embedder().embed(['text'], 'document')).rejects.toMatchObject({ code: 'unavailable', message })
    expect(server.received).toHaveLength(1)
  })

  it('name the right EMBEDDING_DIM when it differs from the model', async () => {
    await expect(embedder({ dimensions: 1536 }).embed(['text'], 'document')).rejects.toMatchObject({
      message: expect.stringContaining('EMBEDDING_DIM is 1536, but the model a-model returned 8 numbers'),
    })
  })

  it('are refused when their number is wrong', async () => {
    server.fail(replies({ json: { data: [{ index: 0, embedding: vectorOf('one', 8) }] } }))
    await expect(embedder().embed(['one', 'two'], 'document')).rejects.toMatchObject({
      message: 'The OpenAI-compatible server returned 1 vectors for 2 texts; try again',
    })
  })

  it('survive passing faults', async () => {
    server.fail(replies({ status: 429, headers: { 'retry-after': '1' }, json: {} }), breaksOff)
    expect(await embedder().embed(['text'], 'document')).toHaveLength(1)
    server.fail(silent, notJson)
    expect(await embedder({ tryMs: 1000 }).embed(['text'], 'document')).toHaveLength(1)
    expect(server.received).toHaveLength(6)
  })

  it('cut a text that the model cannot read', async () => {
    const message = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"
    server.fail(replies({ status: 400, json: { error: { message, code: null } } }))
    await embedder().embed(['x'.repeat(3000)], 'document')
    expect(server.received.map(({ body }) => body.input[0].length)).toEqual([3000, 1500])
  })

  it('name the program to start when nothing listens', async () => {
    const base = await deadUrl()
    const dead = createOpenAiEmbedder({ base, apiKey: null, model: 'm', dimensions: 8 }, createTestTiming())
    await expect(dead.embed(['text'], 'query')).rejects.toMatchObject({
      message: 'The OpenAI-compatible server cannot be reached; start it or set OPENAI_API_BASE',
    })
  })
})

describe('summaries', () => {
  it('come from the chat', async () => {
    expect(await summarizer().summarize('A long text.', 'user')).toBe('A summary.')
    expect(server.received[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: { model: 'a-model', max_tokens: 200, messages: [{ role: 'system' }, { role: 'user' }] },
    })
  })

  it('name the limit of tokens as OpenAI itself wants it', async () => {
    const bodies: string[] = []
    const openAi = createSummarizer(
      createOpenAiLanguageModel(
        { base: 'https://api.openai.com/v1', apiKey: 'k', model: 'm', maxTokens: 200 },
        {
          fetch: async (_url, { body }) => {
            bodies.push(String(body))
            return Response.json({ choices: [{ message: { content: 'Short.' } }] })
          },
        },
      ),
    )
    expect(await openAi.summarize('text', 'user')).toBe('Short.')
    expect(JSON.parse(bodies[0] as string)).toMatchObject({ max_completion_tokens: 200 })
    expect(JSON.parse(bodies[0] as string)).not.toHaveProperty('max_tokens')
  })

  it('fail when the answer is empty or has another shape', async () => {
    server.fail(replies({ json: { choices: [{ message: { content: null } }] } }), replies({ json: { choices: [] } }))
    for (const _ of [1, 2])
      await expect(summarizer().summarize('text', 'user')).rejects.toMatchObject({
        message: expect.stringContaining('returned no summary'),
      })
  })

  it('name SUMMARY_MODEL when the model is missing', async () => {
    await expect(summarizer('other').summarize('text', 'user')).rejects.toMatchObject({
      message: 'The OpenAI-compatible server does not have the model other; set SUMMARY_MODEL to one that it has',
    })
  })
})

describe('reranking', () => {
  it('returns one score a passage, in the order of the passages', async () => {
    expect(await reranker().rerank('query', ['a'.repeat(30), 'b'.repeat(70), ''])).toEqual([0.3, 0.7, 0])
    expect(server.received[0]).toMatchObject({
      path: '/v1/rerank',
      body: { model: 'a-model', query: 'query', top_n: 3 },
    })
  })

  it('squashes the raw scores of a server that does not', async () => {
    const results = [
      { index: 0, relevance_score: -11 },
      { index: 1, relevance_score: 7.7 },
    ]
    server.fail(replies({ json: { results } }))
    const [low, high] = (await reranker().rerank('query', ['one', 'two'])) as [number, number]
    expect(low).toBeCloseTo(0, 3)
    expect(high).toBeCloseTo(0.9995, 3)
  })

  it.each([
    ['a passage without a score', [{ index: 0, relevance_score: 1 }]],
    [
      'two scores for one passage',
      [
        { index: 0, relevance_score: 1 },
        { index: 0, relevance_score: 0 },
      ],
    ],
    [
      'a place that does not exist',
      [
        { index: 0, relevance_score: 1 },
        { index: 7, relevance_score: 0 },
      ],
    ],
    ['another shape', null],
  ])('refuses %s', async (_name, results) => {
    server.fail(replies({ json: { results } }))
    await expect(reranker().rerank('query', ['one', 'two'])).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('did not return one score for each passage'),
    })
  })

  it('names the setting to change when the server has no such endpoint', async () => {
    await restart({ reranks: false })
    await expect(reranker().rerank('query', ['one'])).rejects.toMatchObject({
      message: expect.stringContaining('has no /rerank endpoint; set OPENAI_API_BASE to one that has'),
    })
  })
})
