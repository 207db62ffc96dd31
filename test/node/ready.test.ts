import { afterEach, describe, expect, it } from 'vitest'
import { remembered } from '../../src/adapters/http-json/health'
import { type ModelServer, startModelServer } from '../fakes/model-server'
import { startOllama } from '../fakes/ollama'
import { startServer } from '../support/server'

/** What /ready says about models: whoever starts the server learns at once that one does not answer. */
describe('/ready with model providers', () => {
  let provider: ModelServer | undefined
  afterEach(async () => {
    await provider?.close()
    provider = undefined
  })

  async function ready(vars: Record<string, string>) {
    const server = await startServer(vars)
    const response = await fetch(new URL('/ready', server.url))
    const { checks } = (await response.json()) as { checks: Record<string, unknown> }
    await server.stop()
    return { status: response.status, checks }
  }
  const ollama = (url: string, more: Record<string, string> = {}) =>
    ready({ OLLAMA_HOST: url, EMBEDDING_PROVIDER: 'ollama', EMBEDDING_MODEL: 'embedder', EMBEDDING_DIM: '8', ...more })
  const NOWHERE = 'http://127.0.0.1:9'
  const DOWN = {
    backend: 'ollama',
    ok: false,
    problem: 'Ollama cannot be reached; start Ollama (ollama serve) or set OLLAMA_HOST',
  }

  it('names each that is configured when it answers, by what it is for', async () => {
    provider = await startOllama({ models: ['embedder', 'writer'] })
    const { status, checks } = await ollama(provider.url, { SUMMARY_PROVIDER: 'ollama', SUMMARY_MODEL: 'writer' })
    const fine = { backend: 'ollama', ok: true }
    expect([status, checks]).toEqual([200, expect.objectContaining({ embeddings: fine, summaries: fine })])
  })

  it('is 503 without the one that writes need, and says what to start', async () => {
    const { status, checks } = await ollama(NOWHERE)
    expect([status, checks.embeddings]).toEqual([503, DOWN])
  })

  it('stays 200 without one that calls can do without', async () => {
    const { status, checks } = await ollama(NOWHERE, { EMBEDDING_FAILURE: 'defer', SUMMARY_PROVIDER: 'ollama' })
    expect([status, checks]).toEqual([200, expect.objectContaining({ embeddings: DOWN, summaries: DOWN })])
  })

  it('says which model has to be pulled', async () => {
    provider = await startOllama({ models: ['another'] })
    const { checks } = await ollama(provider.url)
    expect(checks.embeddings).toMatchObject({ problem: expect.stringContaining('run: ollama pull embedder') })
  })

  it('looks at the key of an OpenAI-compatible server, and takes one without a list of models for alive', async () => {
    const ask = async (status: number) => {
      provider = await startModelServer(() => ({ status, json: {} }))
      const vars = { EMBEDDING_PROVIDER: 'openai', OPENAI_API_BASE: provider.url, OPENAI_API_KEY: 'secret-key' }
      const { checks } = await ready(vars)
      expect(provider.received.map(({ path }) => path)).toEqual(['/models'])
      await provider.close()
      provider = undefined
      return checks.embeddings
    }
    expect(await ask(200)).toEqual({ backend: 'openai', ok: true })
    expect(await ask(404)).toEqual({ backend: 'openai', ok: true })
    expect(await ask(401)).toMatchObject({ ok: false, problem: expect.stringContaining('set OPENAI_API_KEY') })
  })

  it('asks a provider once in a while, however often it is asked itself', async () => {
    let [asked, time] = [0, 0]
    const ping = remembered('a provider of this test', async () => void asked++, { now: () => time })
    for (const at of [0, 1, 4999, 5000, 5001]) {
      time = at
      await ping()
    }
    expect(asked).toBe(2)
  })
})
