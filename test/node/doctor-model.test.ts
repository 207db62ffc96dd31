import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { checkModel } from '../../src/cli/doctor/model.mjs'

/** The doctor's report of the model, as the server describes it. */
async function examine(embeddings: object, semantic: object) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const content = { semantic_search: { enabled: true, ...semantic }, total_entries: 10, results: [] }
      response.end(JSON.stringify({ result: { structuredContent: content } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const around = { url, key: '', from: 'test', client: null, known: null, hooked: [], parts: { embeddings } }
  const [finding] = await checkModel(around as unknown as Parameters<typeof checkModel>[0])
  await new Promise((resolve) => server.close(resolve))
  return finding
}

const MINILM = { provider: 'builtin', model: 'all-MiniLM-L6-v2', dimensions: 384, waiting_count: 0 }
const READY = { backend: 'builtin, wasm runtime', ok: true }

it('names the runtime of the built-in model', async () => {
  expect(await examine(READY, MINILM)).toEqual({
    ...{ name: 'model', ok: true },
    detail: 'builtin wasm runtime: all-MiniLM-L6-v2, 384 numbers, answers',
  })
})

it('counts entries that wait for vectors, and passes on the suggestion of another model', async () => {
  expect(await examine(READY, { ...MINILM, waiting_count: 3 })).toMatchObject({
    ...{ ok: null, detail: expect.stringContaining('3 of 10 entries have no vectors yet') },
  })
  const suggestion = '30 % of the newest 10 entries are not in English'
  expect(await examine(READY, { ...MINILM, suggestion })).toMatchObject({
    ...{ ok: null, detail: expect.stringContaining(suggestion) },
  })
})

it('does not fail while the built-in model is downloaded or away, since local is used', async () => {
  const away = {
    backend: 'builtin',
    ok: false,
    problem: 'The model is being downloaded (30 %); "local" is used until then',
  }
  const message = 'The model is not available, so "local" is used: status 404'
  expect(await examine(away, {})).toMatchObject({ ok: null, detail: expect.stringContaining('30 %') })
  expect(await examine(away, { message })).toMatchObject({ ok: null, detail: message })
  const gone = { backend: 'ollama', ok: false, problem: 'Ollama cannot be reached' }
  expect(await examine(gone, {})).toMatchObject({ ok: false })
})
