import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { type OpenedServer, startServer } from '../support/server'

/** A model whose cosines lie between 0.8 and 1, like those of E5: unrelated texts have 0.8. */
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
const SUBJECTS = ['billing', 'login', 'parser', 'cache', 'mobile', 'search']
/** In other words than the entries. */
const OTHER_WORDS = ['invoices', 'passwords', 'grammars', 'eviction', 'handsets', 'lookups']
const DIMENSIONS = SUBJECTS.length + 2

function vectorOf(text: string): number[] {
  const found = [SUBJECTS, OTHER_WORDS].flatMap((words) => words.findIndex((word) => text.includes(word)))
  const subject = Math.max(...found)
  const own = subject < 0 ? DIMENSIONS - 1 : subject + 1
  return Array.from({ length: DIMENSIONS }, (_, i) => (i === 0 ? Math.sqrt(0.8) : i === own ? Math.sqrt(0.2) : 0))
}

async function model(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/state') {
    const levels = { nothing: 0.8, answer: 0.95 }
    const hosted = { name: 'narrow', revision: '1', dimensions: DIMENSIONS, levels }
    return Response.json({ state: 'ready', name: 'narrow', runtime: 'native', model: hosted })
  }
  const { texts } = (await request.json()) as { texts: string[] }
  return new Response(new Float32Array(texts.flatMap(vectorOf)))
}

let server: OpenedServer
let client: TestClient
beforeAll(async () => {
  server = await startServer({ EMBEDDING_PROVIDER: 'builtin' }, undefined, { model })
  client = await connect(server.url)
  for (const subject of SUBJECTS)
    await client.call('remember', {
      title: `The ${subject} rule`,
      content: `How ${subject} works here.`,
      kind: 'decision',
    })
})
afterAll(async () => {
  await client?.close()
  await server?.stop()
})

const namesFor = async (goal: string): Promise<string[]> => {
  const { data } = await client.call('context', { goal })
  return data.sections.flatMap(({ items }: { items: { name: string }[] }) => items.map(({ name }) => name))
}

it('[PACK-25] finds nothing for a goal about something else, for any scale of the cosines of the model', async () => {
  expect(await namesFor('Feed giraffes tomorrow')).toEqual([])
  expect(await namesFor('Send invoices tomorrow')).toEqual(['The billing rule'])
})
