import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { base64, pngBytes } from '../../support/scope'
import { unique, useSession } from './session'

const bytes = (head: string, size: number): Uint8Array => {
  const all = new Uint8Array(size)
  all.set(Uint8Array.from(head, (char) => char.charCodeAt(0)))
  return all
}
const JPEG = base64(bytes('\xff\xd8\xff\xe0jpeg', 20))
const GIF = base64(bytes('GIF89a', 20))
const WEBP = base64(bytes('RIFF\0\0\0\0WEBPVP8 ', 20))
const MEGABYTE = 1_048_576
const hashOf = async (data: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(data, 'base64'))).toString('hex')

/** Images of entries, over a real connection. */
export function imageContract(connect: Connect): void {
  describe('images', () => {
    const s = useSession(connect, { MAX_IMAGE_SIZE_MB: '7', MAX_TOTAL_SIZE_MB: '12' })
    const message = async (images: unknown[]) =>
      (await s.fail('store_context', { thread_id: unique(), source: 'user', text: 'x', images })).data.error.message
    const get = async (id: number) =>
      (await s.ok('get_context_by_ids', { context_ids: [id], image_format: 'inline' })).result[0]

    it('[THREADS-42] stores images in order and returns them with detected type, metadata and address', async () => {
      const png = base64(pngBytes('order'))
      const result = await s.ok('store_context', {
        thread_id: unique(),
        source: 'user',
        text: 'four',
        images: [
          { data: JPEG, mime_type: 'image/png', metadata: { caption: 'wrong type declared' } },
          { data: GIF, metadata: 'a string' },
          { data: WEBP },
          { data: png },
        ],
      })
      expect(result.message).toBe('Context stored with 4 images (embedding generated)')
      const { images, content_type } = await get(result.context_id)
      expect(content_type).toBe('multimodal')
      expect(images).toMatchObject([
        { data: JPEG, mime_type: 'image/jpeg', metadata: { caption: 'wrong type declared' } },
        { data: GIF, mime_type: 'image/gif', metadata: 'a string', size: 20 },
        { data: WEBP, mime_type: 'image/webp' },
        { data: png, mime_type: 'image/png', sha256: await hashOf(png) },
      ])
      expect(images[0]).not.toHaveProperty('block')
      expect(images[2]).not.toHaveProperty('metadata')
      expect(images[0].url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/images\/[0-9a-f]{64}$/)
      const without = (await s.ok('get_context_by_ids', { context_ids: [result.context_id], include_images: false }))
        .result
      expect(without[0]).not.toHaveProperty('images')
      const one = await s.ok('store_context', {
        thread_id: unique(),
        source: 'user',
        text: 'one',
        images: [{ data: png }],
      })
      expect(one.message).toBe('Context stored with 1 images (embedding generated)')
    })

    it('[THREADS-44] returns images as image blocks that entries reference by index, from every tool that returns images', async () => {
      const thread_id = unique()
      const png = base64(pngBytes('seen'))
      const images = [{ data: png, metadata: { caption: 'seen' } }, { data: GIF }]
      const id = await s.store('with images', { thread_id, images })
      await s.store('without', { thread_id })
      const whole = await s.client.call('get_context_by_ids', { context_ids: [id] })
      const searches: [string, Record<string, unknown>][] = [
        ['search_context', {}],
        ['fts_search_context', { query: 'images' }],
        ['semantic_search_context', { query: 'images' }],
        ['hybrid_search_context', { query: 'images' }],
      ]
      const found = searches.map(([name, args]) => s.client.call(name, { ...args, thread_id, include_images: true }))
      for (const { data, text, content } of [whole, ...(await Promise.all(found))]) {
        const entries = data.result ?? data.results
        expect(entries.find((entry: { id: number }) => entry.id === id).images).toEqual([
          {
            mime_type: 'image/png',
            size: atob(png).length,
            sha256: await hashOf(png),
            metadata: { caption: 'seen' },
            url: expect.stringContaining(`/images/${await hashOf(png)}`),
            block: 1,
          },
          {
            mime_type: 'image/gif',
            size: 20,
            sha256: await hashOf(GIF),
            url: expect.stringContaining(`/images/${await hashOf(GIF)}`),
            block: 2,
          },
        ])
        expect(content.slice(1)).toEqual([
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'image', data: GIF, mimeType: 'image/gif' },
        ])
        expect(JSON.parse(text)).toEqual(data)
      }
    })

    it('[THREADS-41] accepts data URLs, white space, the URL-safe alphabet and missing padding', async () => {
      const data = base64(pngBytes('>>>???'))
      const loose = data.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
      const spaced = data.replace(/.{20}/g, '$&\r\n ')
      const id = await s.store('x', {
        images: [{ data: `data:image/png;base64,${data}` }, { data: loose }, { data: spaced }],
      })
      for (const image of (await get(id)).images) expect(image.data).toBe(data)
    })

    it('[THREADS-41] refuses a bad image by its index and the reason', async () => {
      const good = { data: GIF }
      expect(await message([good, {}])).toBe('Image 1 is missing required "data" field')
      expect(await message([good, { data: null }])).toBe('Image 1 is missing required "data" field')
      expect(await message([{ data: '' }])).toBe('Image 0 has empty "data" field')
      expect(await message([{ data: '!!!' }])).toBe('Image 0 has invalid base64 encoding')
      expect(await message([{ data: 'A' }])).toBe('Image 0 has invalid base64 encoding')
      expect(await message([{ data: 'data:image/png;base64,' }])).toBe('Image 0 "data" decodes to zero bytes')
      expect(await message([{ data: btoa('<svg/>') }])).toBe('Image 0 is not a PNG, JPEG, GIF or WebP image')
      expect(await message([{ data: GIF, metadata: 'x'.repeat(16_385) }])).toMatch(/16 KB/)
    })

    it('[THREADS-41] refuses images above the size limits and accepts exactly the limit', async () => {
      const exact = base64BytesOf('GIF89a', 7 * MEGABYTE)
      await s.ok('store_context', { thread_id: unique(), source: 'user', text: 'x', images: [{ data: exact }] })
      expect(await message([{ data: base64BytesOf('GIF89a', 7 * MEGABYTE + 1) }])).toBe('Image 0 exceeds 7MB limit')
      expect(await message([{ data: exact }, { data: exact }])).toBe('Total image size exceeds 12MB limit')
    })

    it('[THREADS-46] leaves out image data beyond 10 MB of one response and reports it', async () => {
      const thread_id = unique()
      const large = (n: number) => ({ data: base64BytesOf(`GIF89a${n}`, 5.5 * MEGABYTE) })
      await s.store('a', { thread_id, images: [large(1)] })
      await s.store('b', { thread_id, images: [large(2)] })
      for (const image_format of ['block', 'inline']) {
        const { data, content } = await s.client.call('search_context', {
          thread_id,
          include_images: true,
          image_format,
        })
        const [[shown], [omitted]] = data.results.map((entry: { images: unknown[] }) => entry.images)
        expect(shown).not.toHaveProperty('data_omitted')
        expect(content.filter(({ type }) => type === 'image')).toHaveLength(image_format === 'block' ? 1 : 0)
        expect(omitted).toEqual({
          mime_type: 'image/gif',
          size: 5.5 * MEGABYTE,
          sha256: expect.any(String),
          url: expect.any(String),
          block: image_format === 'block' ? 2 : 1,
          data_omitted: true,
        })
        expect(content[omitted.block]).toMatchObject({ type: 'resource_link', uri: omitted.url, mimeType: 'image/gif' })
      }
    })

    it('[THREADS-44] serves an image at its address to callers who may see an entry with it, and not after deletion', async () => {
      const png = pngBytes('served')
      const ids = [
        await s.store('a', { images: [{ data: base64(png) }] }),
        await s.store('b', { images: [{ data: base64(png) }] }),
      ]
      const { url } = (await get(ids[0] as number)).images[0]
      const fetched = (address: string | URL) => fetch(address, { headers: { authorization: `Bearer ${s.key}` } })
      const response = await fetched(url)
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, max-age=31536000, immutable',
      })
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(png)
      await s.ok('delete_context', { context_ids: [ids[0]] })
      expect((await fetched(url)).status).toBe(200)
      // The history of a deleted entry retains its images too, until it is erased.
      await s.ok('delete_context', { context_ids: [ids[1]] })
      expect((await fetched(url)).status).toBe(200)
      await s.ok('delete_context', { context_ids: ids, erase: true })
      expect((await fetched(url)).status).toBe(404)
      expect((await fetched(new URL('/images/nonsense', url))).status).toBe(404)
    })

    it('[THREADS-53] updates the content type when images are added and when they are removed', async () => {
      const id = await s.store('x', { images: [{ data: GIF }] })
      await s.ok('update_context', { context_id: id, text: 'still with image' })
      expect(await get(id)).toMatchObject({ content_type: 'multimodal', images: [{ data: GIF }] })
      const cleared = await s.ok('update_context', { context_id: id, images: [] })
      expect(cleared.updated_fields).toEqual(['images', 'content_type'])
      expect(await get(id)).not.toHaveProperty('images')
      await s.ok('update_context', { context_id: id, images: [{ data: JPEG }] })
      expect((await s.ok('search_context', { content_type: 'multimodal' })).results[0]).toMatchObject({ id })
    })
  })
}

function base64BytesOf(head: string, size: number): string {
  return Buffer.from(bytes(head, size)).toString('base64')
}
