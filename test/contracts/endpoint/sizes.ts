import { expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

const LIMIT = 8_000_000

/** How large a result gets, over a real connection. */
export function sizeContract(connect: Connect): void {
  const s = useSession(connect)

  it('[PLATFORM-82] sends at most 8 MB of JSON, leaves out complete entries beyond it and names them for a further call', async () => {
    const thread_id = unique()
    // Text that is longer in JSON than in the store is counted as JSON: six letters for each of these, which are not words.
    const text = '\u0001'.repeat(166_500)
    const ids: number[] = []
    for (let i = 0; i < 10; i++) ids.push(await s.store(`a${text}${i}`, { thread_id }))
    const { data, text: json } = await s.client.call('get_context_by_ids', { context_ids: [...ids, 999_999_999] })
    expect(json.length).toBeLessThanOrEqual(LIMIT)
    expect(JSON.parse(json)).toEqual(data)
    expect(data.result.map(({ id }: { id: number }) => id)).toEqual(ids.slice(0, 7))
    expect([data.omitted, data.missing]).toEqual([ids.slice(7), [999_999_999]])
    const rest = await s.ok('get_context_by_ids', { context_ids: data.omitted })
    expect(rest.result.map(({ text_content }: { text_content: string }) => text_content.length)).toEqual([
      ...[166_502, 166_502, 166_502],
    ])
    expect(rest).not.toHaveProperty('omitted')
    // Images inside the JSON are a part of it: what has no room is linked, also the first.
    const image = (bytes: number) => ({ data: Buffer.from('GIF89a'.padEnd(bytes, 'x')).toString('base64') })
    const images = [image(7_000_000), image(4_000_000), image(3_000_000)]
    const illustrated = await s.store('illustrated', { thread_id, images })
    const inline = await s.client.call('get_context_by_ids', { context_ids: [illustrated], image_format: 'inline' })
    expect(inline.text.length).toBeLessThanOrEqual(LIMIT)
    const inside = inline.data.result[0].images.map(({ data }: { data?: string }) => data !== undefined)
    expect(inside).toEqual([false, true, false])
  })

  it('[PLATFORM-82] limits pages of large entries to 8 MB, and the next page continues where one ended', async () => {
    const thread_id = unique()
    const note = 'm'.repeat(250_000)
    const drafts = Array.from({ length: 36 }, (_, i) => ({
      ...{ thread_id, source: 'user', text: `metal ${i}`, metadata: { note } },
    }))
    const ids: number[] = []
    for (const entries of [drafts.slice(0, 18), drafts.slice(18)]) {
      const { results } = await s.ok('store_context_batch', { entries })
      for (const { context_id } of results) ids.unshift(context_id)
    }
    const searches: [string, Record<string, unknown>][] = [
      ['search_context', { limit: 100 }],
      ['fts_search_context', { query: 'metal', limit: 100 }],
      ['semantic_search_context', { query: 'metal', limit: 100 }],
      ['hybrid_search_context', { query: 'metal', limit: 100 }],
    ]
    for (const [name, args] of searches) {
      const { data, text: json } = await s.client.call(name, { ...args, thread_id })
      expect([name, json.length <= LIMIT, data.has_more]).toEqual([name, true, true])
      expect(data.count).toBe(data.results.length)
      const shown = data.results.map(({ id }: { id: number }) => id)
      expect([...shown, ...data.omitted].toSorted()).toEqual(ids.toSorted())
      // The next page starts with the omitted entries.
      const next = await s.ok(name, { ...args, thread_id, offset: data.count })
      expect(next.results[0].id).toBe(data.omitted[0])
    }
    const memories = await s.ok('context_list', { limit: 100 })
    expect(memories.omitted[0]).toMatch(/^\d+$/)
    expect((await s.ok('context_get', { memoryId: memories.omitted[0] })).memory.id).toBe(memories.omitted[0])
  })
}
