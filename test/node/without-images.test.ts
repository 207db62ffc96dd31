import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { startPlace } from '../support/places'
import { base64, pngBytes } from '../support/scope'
import type { RunningServer } from '../support/server'

/** An account without R2: everything but images works, and calls with images get an explanation. */
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
const WHY = /cannot store images .*IMAGES/

describe('a deployment without a bucket for images', () => {
  let server: RunningServer
  let client: TestClient
  beforeAll(async () => {
    server = await startPlace({}, { images: false })
    client = await connect(server.url)
  })
  afterAll(async () => {
    await client.close()
    await server.stop()
  })
  const images = [{ data: base64(pngBytes('one')), mime_type: 'image/png' }]
  const draft = { thread_id: 't', source: 'user', text: 'apples' }

  it('stores, finds, changes and deletes entries', async () => {
    const { data: stored } = await client.call('store_context', draft)
    const { data: found } = await client.call('search_context', { thread_id: 't', include_images: true })
    expect(found.results.map(({ id }: { id: number }) => id)).toEqual([stored.context_id])
    const { data: changed } = await client.call('update_context', {
      context_id: stored.context_id,
      text: 'pears',
      images: [],
    })
    expect(changed.success).toBe(true)
    const { data: gone } = await client.call('delete_context', { context_ids: [stored.context_id], erase: true })
    expect(gone.deleted_count).toBe(1)
    expect((await fetch(new URL(`/images/${'0'.repeat(64)}`, server.url))).status).toBe(404)
  })

  it('refuses to store an image as unsupported, with the reason, and stores the others of a batch', async () => {
    const refused = { code: 'unsupported', retryable: false, message: expect.stringMatching(WHY) }
    const stored = await client.call('store_context', { ...draft, images })
    expect([stored.isError, stored.data.error]).toEqual([true, refused])
    const { data: other } = await client.call('store_context', draft)
    const changed = await client.call('update_context', { context_id: other.context_id, images })
    expect([changed.isError, changed.data.error]).toEqual([true, refused])
    const { data: batch } = await client.call('store_context_batch', {
      entries: [
        { ...draft, text: 'with', images },
        { ...draft, text: 'without' },
      ],
      atomic: false,
    })
    expect(batch).toMatchObject({ succeeded: 1, failed: 1 })
    expect(JSON.stringify(batch.results[0])).toMatch(WHY)
  })

  it('is ready, and reports that images cannot be stored', async () => {
    const answer = await fetch(new URL('/ready', server.url))
    const { status, checks } = (await answer.json()) as { status: string; checks: object }
    expect([answer.status, status]).toEqual([200, 'ready'])
    expect(checks).toMatchObject({
      images: { backend: 'none', ok: false, problem: expect.stringMatching(/^Images cannot be stored/) },
    })
  })
})
