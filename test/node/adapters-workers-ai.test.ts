import { beforeEach, describe, expect, it } from 'vitest'
import {
  createWorkersAiEmbedder,
  createWorkersAiLanguageModel,
  createWorkersAiReranker,
} from '../../src/adapters/workers-ai/models'
import { createSummarizer } from '../../src/services/writing/entries/generate'
import { describeEmbedder } from '../contracts/embedder'
import { createTestTiming } from '../fakes/timing'
import { aiError, createFakeAi, type FakeAi } from '../fakes/workers-ai'

/** The adapters with a fake AI binding. */
const BGE = '@cf/baai/bge-m3'
const GLM = '@cf/zai-org/glm-4.7-flash'

let ai: FakeAi

beforeEach(() => {
  ai = createFakeAi()
})

/** A call without an answer. */
const never = new Promise<unknown>(() => {})

const embedder = (dimensions = 8, options = {}) =>
  createWorkersAiEmbedder({ ai, model: BGE, dimensions }, { ...createTestTiming(), ...options })

const summarizer = (model = GLM, options = {}) =>
  createSummarizer(createWorkersAiLanguageModel({ ai, model, maxTokens: 200 }, { ...createTestTiming(), ...options }))

const reranker = () => createWorkersAiReranker({ ai, model: '@cf/baai/bge-reranker-base' }, createTestTiming())

describe('embeddings', () => {
  describeEmbedder(() => ({
    embedder: embedder(),
    provider: 'workers-ai',
    model: BGE,
    dimensions: 8,
    requests: () => ai.calls.length,
  }))

  it('are requested in batches of at most 50 texts, to be cut where they are too long', async () => {
    await embedder().embed(
      Array.from({ length: 70 }, (_, i) => `text ${i}`),
      'document',
    )
    expect(ai.calls.map(({ model, inputs }) => [model, inputs.text.length, inputs.truncate_inputs])).toEqual([
      [BGE, 50, true],
      [BGE, 20, true],
    ])
  })

  it('survive passing faults', async () => {
    ai.next(aiError('3040: Capacity temporarily exceeded, please try again.'), new Error('Network connection lost.'))
    expect(await embedder().embed(['text'], 'document')).toHaveLength(1)
    expect(ai.calls).toHaveLength(3)
  })

  it('are given up after three tries', async () => {
    ai.next(...Array.from({ length: 4 }, () => aiError('3040: Capacity temporarily exceeded')))
    const timing = createTestTiming()
    await expect(embedder(8, timing).embed(['text'], 'document')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Workers AI failed; try again later',
      cause: expect.objectContaining({ message: '3040: Capacity temporarily exceeded' }),
    })
    expect(ai.calls).toHaveLength(3)
    expect(timing.sleeps).toEqual([300, 600])
  })

  it('are not waited for longer than a try may take, whether or not the binding listens', async () => {
    ai.next(never)
    expect(await embedder(8, { tryMs: 500 }).embed(['text'], 'document')).toHaveLength(1)
    expect(ai.calls[0]?.signal?.aborted).toBe(true)
    ai.next(never, never, never)
    await expect(embedder(8, { tryMs: 500 }).embed(['text'], 'document')).rejects.toMatchObject({ reason: 'timeout' })
  })

  it.each([
    [`5007: No such model ${BGE} or task`, `Workers AI has no model ${BGE}; set EMBEDDING_MODEL`],
    [
      '3036: You have used up your daily free allocation of 10,000 neurons.',
      'Workers AI has used up the free allocation of this day; move to a paid plan or another provider',
    ],
    [
      '5016: User has not agreed to the terms',
      `Workers AI wants the terms of ${BGE} to be agreed to first; see its page in the dashboard`,
    ],
  ])('are not tried again after "%s"', async (thrown, message) => {
    ai.next(aiError(thrown))
    await expect(embedder().embed(['text'], 'document')).rejects.toMatchObject({ code: 'unavailable', message })
    expect(ai.calls).toHaveLength(1)
  })

  it('name the right EMBEDDING_DIM when it differs from the model', async () => {
    await expect(embedder(1024).embed(['text'], 'document')).rejects.toMatchObject({
      message: expect.stringContaining(`EMBEDDING_DIM is 1024, but the model ${BGE} returned 8 numbers`),
    })
  })

  it.each([[{ data: [[1, 2]] }], [{ request_id: 'later' }], [null]])('are refused in the shape %j', async (answer) => {
    ai.next(answer)
    await expect(embedder(2).embed(['one', 'two'], 'document')).rejects.toMatchObject({
      message: expect.stringMatching(/^Workers AI returned \d vectors for 2 texts; try again$/),
    })
  })
})

describe('summaries', () => {
  it('come from the chat, with reasoning switched off where it can be', async () => {
    expect(await summarizer().summarize('A long text.', 'agent')).toBe('A summary.')
    expect(ai.calls[0]).toMatchObject({
      model: GLM,
      inputs: { max_tokens: 200, chat_template_kwargs: { enable_thinking: false } },
    })
    await summarizer('@cf/meta/llama-3.1-8b-instruct').summarize('A long text.', 'agent')
    expect(ai.calls[1]?.inputs).not.toHaveProperty('chat_template_kwargs')
  })

  it('are read from the answers of older models too', async () => {
    ai.next({ response: 'From a llama.' })
    expect(await summarizer().summarize('text', 'user')).toBe('From a llama.')
  })

  it('fail when the model only reasoned, and are tried once', async () => {
    ai.next({ choices: [{ message: { content: null, reasoning_content: 'Let me see' } }] })
    await expect(summarizer().summarize('text', 'user')).rejects.toMatchObject({
      message: 'Workers AI returned no summary; raise SUMMARY_MAX_TOKENS or choose another SUMMARY_MODEL',
    })
    ai.next(aiError('3040: Capacity temporarily exceeded'))
    await expect(summarizer().summarize('text', 'user')).rejects.toMatchObject({ code: 'unavailable' })
    ai.next(never)
    await expect(summarizer(GLM, { tryMs: 500 }).summarize('text', 'user')).rejects.toMatchObject({ reason: 'timeout' })
    expect(ai.calls).toHaveLength(3)
  })
})

describe('reranking', () => {
  it('returns one score a passage, in the order of the passages', async () => {
    expect(await reranker().rerank('query', ['a'.repeat(30), 'b'.repeat(70), ''])).toEqual([0.3, 0.7, 0])
    expect(ai.calls[0]?.inputs).toMatchObject({ query: 'query', top_k: 3 })
    expect(ai.calls[0]?.inputs.contexts[2]).toEqual({ text: '' })
  })

  it('refuses an answer that leaves passages out', async () => {
    ai.next({ response: [{ id: 1, score: 0.5 }] })
    await expect(reranker().rerank('query', ['one', 'two'])).rejects.toMatchObject({
      message: 'Workers AI did not return one score for each passage; check that RERANKING_MODEL is a reranking model',
    })
  })
})
