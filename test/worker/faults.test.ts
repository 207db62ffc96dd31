import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WRITE_BUDGET } from '../../src/adapters/sql/core/write-budget'
import type { Bindings } from '../../src/composition/isolate'
import { composeServices } from '../../src/composition/worker'
import { createLog } from '../../src/http/log'
import { FAMILIES, findTool, listTools } from '../../src/tools/catalogue'
import type { Tool } from '../../src/tools/define-tool'
import { type SendChunked, toErrorResult, toResult } from '../../src/tools/tool-result'
import { bindings, config, migrate } from '../support/bindings'
import { Faults, faulty } from '../support/faults'
import { base64, freshPrincipal, pngBytes, TestClock } from '../support/scope'

/** Every call to D1 and R2 made to fail in turn: one clear error, nothing half stored, and a retry that works. */
const d1 = new Faults()
const r2 = new Faults()
const clock = new TestClock()
const world: Bindings = {
  VECTORS: bindings.VECTORS,
  GATES: bindings.GATES,
  DB: faulty(bindings.DB, ['batch'], d1),
  IMAGES: faulty(bindings.IMAGES, ['put', 'get', 'delete', 'list', 'head'], r2),
}
let background: Promise<unknown>[] = []
const services = composeServices(world, config, {
  log: createLog('CRITICAL'),
  waitUntil: (work) => background.push(work),
  clock,
})
const settle = async () => {
  await Promise.all(background)
  background = []
}
const tools = listTools(config, [FAMILIES.threads])

beforeAll(migrate)
beforeEach(() => {
  d1.clear()
  r2.clear()
})
// Work that a test leaves after its answers does not belong to the next.
afterEach(settle)

const whole: SendChunked = {
  asObject: (pieces) => JSON.parse(pieces.join('')),
  asString: (pieces) => pieces.join(''),
}

describe('when a dependency fails', () => {
  let ada = freshPrincipal()
  beforeEach(async () => {
    // Pending work of the previous test would get the failures of this one.
    await settle()
    ada = freshPrincipal()
  })
  const call = async (name: string, args: Record<string, unknown>) => {
    const tool = findTool(tools, name) as Tool
    try {
      const context = { principal: ada, services, config, origin: 'http://localhost' }
      return await toResult(await tool.call(context, args), whole)
    } catch (error) {
      return toErrorResult(FAMILIES.threads, error, 'request-1')
    }
  }
  // biome-ignore lint/suspicious/noExplicitAny: results are untyped
  const ok = async (name: string, args: Record<string, unknown>): Promise<any> => {
    const result = await call(name, args)
    expect([name, result.isError, result.content[0]?.text]).toEqual([name, undefined, expect.any(String)])
    return result.structuredContent
  }
  const messageOf = (result: { structuredContent: Record<string, unknown> }): string =>
    (result.structuredContent.error as { message: string }).message
  const state = async () => {
    d1.clear()
    r2.clear()
    const { results } = await ok('search_context', { limit: 100, include_images: true, image_format: 'inline' })
    const { total_entries, total_images, unique_tags, fts } = await ok('get_statistics', {})
    return { results, total_entries, total_images, unique_tags, indexed: fts.indexed_entries }
  }

  const image = { data: base64(pngBytes('fault')) }
  const draft = { thread_id: 't', source: 'user', text: 'apples', tags: ['a'], metadata: { n: 1 }, images: [image] }
  const writes: [string, (id: number) => Record<string, unknown>][] = [
    ['store_context', () => ({ ...draft, text: 'new', images: [{ data: base64(pngBytes('new')) }] })],
    ['store_context_batch', () => ({ entries: [draft, { ...draft, text: 'two' }, { ...draft, text: 'three' }] })],
    ['update_context', (id) => ({ context_id: id, metadata_patch: { plain: 1 } })],
    ['update_context', (id) => ({ context_id: id, text: 'pears', metadata_patch: { title: 'x' }, images: [] })],
    [
      'update_context_batch',
      (id) => ({
        updates: [
          { context_id: id, tags: ['b'] },
          { context_id: id, text: 'z' },
        ],
      }),
    ],
    ['delete_context', (id) => ({ context_ids: [id] })],
    ['delete_context_batch', () => ({ thread_ids: ['t'] })],
  ]

  for (const [dependency, faults] of [
    ['D1', d1],
    ['R2', r2],
  ] as const) {
    for (const [i, [name, args]] of writes.entries()) {
      it(`leaves nothing half done when ${dependency} fails in ${name} (${i + 1}), and a retry succeeds`, async () => {
        const { context_id: id } = await ok('store_context', draft)
        for (let skip = 0; skip < 6; skip++) {
          const before = await state()
          faults.failAfter(skip, 'before')
          const result = await call(name, args(id))
          const reached = faults.calls > skip
          faults.clear()
          await settle()
          if (!reached) {
            expect(result.isError).toBeUndefined()
            return
          }
          // Only work after the commit may have failed without the caller noticing.
          if (result.isError) {
            expect(result.structuredContent.error).toMatchObject({ code: 'unavailable', retryable: true })
            expect(JSON.stringify(result)).not.toMatch(/injected|10\.0\.0\.7|SQL/)
            expect(await state()).toEqual(before)
          }
        }
        expect((await call(name, args(id))).isError).toBeUndefined()
      })
    }
  }

  it('answers a long text as stored when the database stops after its commit, so that it is not stored twice', async () => {
    const text = 'hay '.repeat(WRITE_BUDGET / 4 + 1)
    // One round trip reads the receipt of the key; the commit is the next.
    for (const [name, args, skip, said] of [
      ['store_context', { thread_id: 'long', source: 'user', text }, 1, /^Context stored \(embedding queued\)/],
      ['store_context', { thread_id: 'keyed', source: 'user', text, idempotency_key: 'k' }, 2, null],
      ['store_context_batch', { entries: [{ thread_id: 'batch', source: 'user', text }] }, 1, /embeddings queued/],
    ] as const) {
      d1.failAfter(skip, 'before')
      const result = await call(name, args)
      expect(d1.calls).toBeGreaterThan(skip)
      d1.clear()
      await settle()
      if (said !== null)
        expect([result.isError, result.structuredContent.message]).toEqual([undefined, expect.stringMatching(said)])
      else expect((await ok(name, args)).replayed).toBe(true)
    }
    expect((await ok('search_context', {})).total).toBe(3)
    const { context_id: id } = await ok('store_context', { thread_id: 'changed', source: 'user', text: 'short' })
    await settle()
    d1.failAfter(2, 'before')
    const changed = await call('update_context', { context_id: id, text })
    d1.clear()
    await settle()
    expect([changed.isError, changed.structuredContent.message]).toEqual([
      undefined,
      expect.stringMatching(/embedding queued/),
    ])
  })

  it('matches its own entry when the database stored it but the answer was lost', async () => {
    d1.failAfter(0, 'after')
    const lost = await call('store_context', draft)
    expect(lost.structuredContent.error).toMatchObject({ code: 'unavailable', retryable: true })
    expect(messageOf(lost)).toMatch(/not known whether the change was made; .* updates its own/)
    expect(JSON.stringify(lost)).not.toContain('secret-42')
    const again = await ok('store_context', draft)
    expect(again.version).toBe(2)
    expect((await state()).total_entries).toBe(1)
  })

  it('reports that a write without an answer may have happened, and that a read changed nothing', async () => {
    const { context_id: id } = await ok('store_context', draft)
    await settle()
    for (const [name, args] of writes) {
      d1.failAfter(0, 'before')
      const failed = messageOf(await call(name, args(id)))
      // An update reads first; what fails then has written nothing.
      expect(failed).toMatch(/nothing was changed, try again|not known whether the change was made/)
      if (name.startsWith('store') || name.startsWith('delete')) expect(failed).toMatch(/not known whether/)
      d1.clear()
      await settle()
    }
    d1.failAfter(0, 'before')
    const read = await call('search_context', {})
    expect(messageOf(read)).toBe('The database did not respond; nothing was changed, try again')
  })

  it('keeps the bytes when R2 wrote them but the answer was lost', async () => {
    r2.failAfter(0, 'after')
    expect((await call('store_context', draft)).isError).toBe(true)
    expect((await state()).total_entries).toBe(0)
    await ok('store_context', draft)
    const { results } = await state()
    expect(results[0].images[0].data).toBe(image.data)
  })

  it('removes an unused image later when R2 fails at the moment of the delete', async () => {
    const { context_id: id } = await ok('store_context', draft)
    r2.failAfter(0, 'before')
    await ok('delete_context', { context_ids: [id], erase: true })
    await settle()
    // The image, and the words of erased entries.
    expect((await ok('get_statistics', {})).pending_work.pending).toBe(2)
    r2.clear()
    clock.advance(3_600_000)
    await services.maintenance.work()
    expect((await ok('get_statistics', {})).pending_work).toEqual({ pending: 0, failed: 0, oldest_at: null })
    expect((await bindings.IMAGES.list({ prefix: `images/${ada.org}` })).objects).toEqual([])
  })

  it('counts work as failed after ten tries and continues to try', async () => {
    const { context_id: id } = await ok('store_context', draft)
    await ok('update_context', { context_id: id, text: 'no change of images' })
    r2.failAfter(0, 'before')
    await ok('delete_context', { context_ids: [id], erase: true })
    await settle()
    for (let i = 0; i < 9; i++) {
      clock.advance(24 * 3_600_000)
      r2.failAfter(0, 'before')
      await services.maintenance.work()
    }
    expect((await ok('get_statistics', {})).pending_work).toMatchObject({ pending: 0, failed: 1 })
    r2.clear()
    clock.advance(24 * 3_600_000)
    await services.maintenance.work()
    expect((await ok('get_statistics', {})).pending_work.failed).toBe(0)
  })

  it('refuses a new use of an image while it is being removed, and keeps one that is used again', async () => {
    const { context_id: id } = await ok('store_context', draft)
    await ok('delete_context', { context_ids: [id], erase: true })
    await settle()
    await bindings.DB.prepare(
      `INSERT INTO outbox (org, topic, key, state, created_at, due_at) VALUES (?1, 'image_delete', ?2, 'claimed', 0, ?3)`,
    )
      .bind(ada.org, await hashOf(pngBytes('fault')), clock.ms + 60_000)
      .run()
    const refused = await call('store_context', draft)
    expect(refused.structuredContent.error).toMatchObject({ code: 'conflict', retryable: true })
    await bindings.DB.prepare('DELETE FROM outbox WHERE org = ?1').bind(ada.org).run()
    await ok('store_context', draft)
    await services.maintenance.work()
    expect((await state()).results[0].images[0].data).toBe(image.data)
  })

  it('collects objects whose row was never written, once they are a day old', async () => {
    d1.failAfter(0, 'before')
    expect((await call('store_context', draft)).isError).toBe(true)
    d1.clear()
    const objects = async () => (await bindings.IMAGES.list({ prefix: `images/${ada.org}` })).objects.length
    expect(await objects()).toBe(1)
    clock.ms = Date.now()
    await services.schedule.run()
    await services.maintenance.work()
    expect(await objects()).toBe(1)
    clock.ms = Date.now() + 25 * 3_600_000
    await services.schedule.run()
    await services.maintenance.work()
    expect(await objects()).toBe(0)
  })

  it('removes expired entries for good when the schedule runs', async () => {
    await ok('store_context', {
      ...draft,
      metadata: { expires_at: new Date(clock.ms + 1000).toISOString().slice(0, 19) },
    })
    clock.advance(5_000)
    await services.schedule.run()
    const { results } = await bindings.DB.prepare('SELECT count(*) AS n FROM entries WHERE org = ?1')
      .bind(ada.org)
      .all()
    expect(results[0]?.n).toBe(0)
  })
})

async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
