import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/** The limits of an organization for its agents; counting: test/contracts/quotas.ts. */
let server: RunningServer
let client: TestClient
beforeAll(async () => {
  server = await startPlace({ MAX_ENTRIES_PER_ORG: '2', MAX_BYTES_PER_ORG: '1000' })
  client = await (CLIENTS['SDK v2, revision 2026-07-28'] as Connect)(server.url)
})
afterAll(async () => {
  await client.close()
  await server.stop()
})

it('answers a write beyond MAX_ENTRIES_PER_ORG or MAX_BYTES_PER_ORG with the limit and stores nothing of it', async () => {
  const store = (text: string) => client.call('store_context', { thread_id: 't', source: 'user', text })
  const { data } = await store('one')
  const long = await store('x'.repeat(998))
  expect(long.data.error).toMatchObject({ code: 'limit_exceeded', retryable: false })
  expect(long.text).toMatch(/at most 1000 bytes .*MAX_BYTES_PER_ORG.*nothing was changed/)
  const entries = ['two', 'three'].map((text) => ({ thread_id: 't', source: 'user', text }))
  const batch = await client.call('store_context_batch', { entries })
  expect(batch.text).toMatch(/at most 2 entries .*MAX_ENTRIES_PER_ORG/)
  const metadata = { a: 'y'.repeat(1000) }
  const update = await client.call('update_context', { context_id: data.context_id, metadata })
  expect(update.data.error).toMatchObject({ code: 'limit_exceeded' })
  expect((await client.call('search_context')).data.total).toBe(1)
  expect((await store('two')).isError).toBeFalsy()
})
