import { afterEach, describe, expect, it, vi } from 'vitest'
import { remembered } from '../../src/adapters/http-json/health'
import { workerHere } from '../support/worker-here'

/** Models in /ready: the operator learns at once that one does not respond. */
describe('/ready with model providers', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  /** A provider's answers, by path and model. */
  type Provider = (path: string, model: string | undefined) => { status?: number; json: object }

  let hosts = 0
  /** A separate host, since answers are cached for a while. @param answer null: nothing listens there */
  function startProvider(answer: Provider | null) {
    const [received, origin] = [[] as string[], `http://provider-${++hosts}.test`]
    vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
      const request = new Request(input, init)
      const { origin: asked, pathname } = new URL(request.url)
      if (asked !== origin || answer === null) throw new TypeError(`Nothing listens at ${asked}`)
      received.push(pathname)
      const { model } = request.body === null ? {} : await request.json<{ model?: string }>()
      const { status = 200, json } = answer(pathname, model)
      return Response.json(json, { status })
    })
    return { origin, received }
  }
  const serving =
    (...models: string[]): Provider =>
    (path, model = '') =>
      path === '/api/show' && models.includes(model)
        ? { json: { details: { family: 'fake' } } }
        : { status: 404, json: { error: `model "${model}" not found, try pulling it first` } }

  async function ready(vars: Record<string, string>) {
    const response = await workerHere(vars)('/ready')
    const { checks } = await response.json<{ checks: Record<string, unknown> }>()
    return { status: response.status, checks }
  }
  const ollama = (url: string, more: Record<string, string> = {}) =>
    ready({ OLLAMA_HOST: url, EMBEDDING_PROVIDER: 'ollama', EMBEDDING_MODEL: 'embedder', EMBEDDING_DIM: '8', ...more })
  const DOWN = {
    backend: 'ollama',
    ok: false,
    problem: 'Ollama cannot be reached; start Ollama (ollama serve) or set OLLAMA_HOST',
  }

  it('names each that is configured when it answers, by what it is for', async () => {
    const { origin } = startProvider(serving('embedder', 'writer'))
    const { status, checks } = await ollama(origin, { SUMMARY_PROVIDER: 'ollama', SUMMARY_MODEL: 'writer' })
    const fine = { backend: 'ollama', ok: true }
    expect([status, checks]).toEqual([200, expect.objectContaining({ embeddings: fine, summaries: fine })])
  })

  it('is 503 without the one that writes need, and names what to start', async () => {
    const { status, checks } = await ollama(startProvider(null).origin)
    expect([status, checks.embeddings]).toEqual([503, DOWN])
  })

  it('stays 200 without one that calls can do without', async () => {
    const more = { EMBEDDING_FAILURE: 'defer', SUMMARY_PROVIDER: 'ollama' }
    const { status, checks } = await ollama(startProvider(null).origin, more)
    expect([status, checks]).toEqual([200, expect.objectContaining({ embeddings: DOWN, summaries: DOWN })])
  })

  it('names the model to pull', async () => {
    const { checks } = await ollama(startProvider(serving('another')).origin)
    expect(checks.embeddings).toMatchObject({ problem: expect.stringContaining('run: ollama pull embedder') })
  })

  it('checks the key of an OpenAI-compatible server, and treats one without a list of models as available', async () => {
    const ask = async (status: number) => {
      const { origin, received } = startProvider(() => ({ status, json: {} }))
      const vars = { EMBEDDING_PROVIDER: 'openai', OPENAI_API_BASE: origin, OPENAI_API_KEY: 'secret-key' }
      const { checks } = await ready(vars)
      expect(received).toEqual(['/models'])
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
