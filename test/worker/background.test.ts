import { beforeAll, describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { composeServices } from '../../src/composition/worker'
import { parseConfig } from '../../src/config'
import { NOTHING_GENERATED } from '../../src/domain/entry/entry'
import type { Caller } from '../../src/domain/identity/scope'
import { modelKey } from '../../src/domain/meaning/vector'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { Services } from '../../src/services/services'
import { bindings, d1Adapters, migrate } from '../support/bindings'
import { Faults, faulty } from '../support/faults'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/** Work after a write: deferred vectors, vectors of a new model, missed updates of indexes. */
const clock = new TestClock()
const made = d1Adapters(clock)
const serving = (vars: Record<string, string> = {}) =>
  composeServices(bindings, parseConfig({ AUTH_MODE: 'open', ...vars }), { log: () => {}, waitUntil: () => {}, clock })
const REQUEST = { query: 'walrus', filter: EVERYTHING, limit: 10, offset: 0, previewLength: 10 }

beforeAll(migrate)

describe('in the background', () => {
  it('makes the vectors that a write left to be made, and empties the queue', async () => {
    const ada = freshPrincipal()
    const services = serving()
    const deferred = { ...NOTHING_GENERATED, queued: ['embed'] as const }
    const [saved] = await made.entries.save(ada, [
      { ...(await entryOf(ada, { text: 'a walrus' })), generated: deferred },
    ])
    expect((await services.entries.statistics(ada)).work.pending).toBe(1)
    await services.maintenance.work()
    await services.maintenance.work()
    expect((await services.rankedSearches.byMeaning(ada, REQUEST)).results[0]?.entry.id).toBe(saved?.id)
    expect((await services.entries.statistics(ada)).work).toEqual({ pending: 0, failed: 0, oldestAt: null })
  })

  it('keeps the vectors of a long text in small chunks, though they are more than one value holds', async () => {
    const ada = freshPrincipal()
    const services = serving({ CHUNK_SIZE: '100', CHUNK_OVERLAP: '0' })
    const text = Array.from({ length: 60_000 }, (_, i) => `word${i % 997}`).join(' ')
    const ok = { ok: true as const, value: { threadId: 't', source: 'user' as const, text } }
    await services.storeEntries(ada, [ok], { atomic: true, dedupe: true })
    const counts = await services.vectorCounts?.(ada)
    expect(counts?.vectors).toBeGreaterThan(4_000)
    expect(counts?.bytes).toBeGreaterThan(2_000_000)
  })

  it('works off a queue that is longer than one round', async () => {
    const ada = freshPrincipal()
    const services = serving()
    const deferred = { ...NOTHING_GENERATED, queued: ['embed'] as const }
    const drafts = await Promise.all(Array.from({ length: 120 }, (_, i) => entryOf(ada, { text: `walrus ${i}` })))
    await made.entries.save(
      ada,
      drafts.map((draft) => ({ ...draft, generated: deferred })),
    )
    await services.maintenance.work(20)
    expect(await services.vectorCounts?.(ada)).toMatchObject({ entries: 120 })
  })

  it('skips an entry that was deleted or rewritten before its turn', async () => {
    const ada = freshPrincipal()
    const services = serving()
    const deferred = { ...NOTHING_GENERATED, queued: ['embed'] as const }
    const [saved] = await made.entries.save(ada, [{ ...(await entryOf(ada)), generated: deferred }])
    await made.entries.delete(ada, { ids: [saved?.id as number] })
    await services.maintenance.work()
    await services.maintenance.work()
    expect((await services.entries.statistics(ada)).work.pending).toBe(0)
  })

  it('searches only vectors of the configured model, and makes them again step by step after a change', async () => {
    const ada = freshPrincipal()
    const drafts = await Promise.all(Array.from({ length: 30 }, (_, i) => entryOf(ada, { text: `walrus number ${i}` })))
    await made.entries.save(ada, drafts)
    const small = serving({ EMBEDDING_DIM: '64' })
    const first = await small.generation?.reembed(ada.org, 0)
    expect(first).toMatchObject({ made: 25, entries: 30, embedded: 25 })
    const second = await small.generation?.reembed(ada.org, first?.next as number)
    expect(second).toEqual({ made: 5, next: null, entries: 30, embedded: 30 })
    expect(await small.generation?.reembed(ada.org, 0)).toMatchObject({ made: 0, next: null })
    expect((await small.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(30)

    const large = serving({ EMBEDDING_DIM: '128' })
    expect((await large.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(0)
    await large.schedule.run()
    expect((await large.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(30)
    expect((await small.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(0)
    expect(await large.vectorCounts?.(ada)).toMatchObject({ entries: 30, vectors: 30 })
  })

  it('keeps semantic search right while the index has heard of nothing', async () => {
    const ada = freshPrincipal()
    const services = serving()
    const ok = { ok: true as const, value: { threadId: 't', source: 'user' as const, text: 'a lone walrus' } }
    await services.storeEntries(ada, [ok], { atomic: true, dedupe: true })
    expect((await services.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(1)
    await services.maintenance.work()
    expect((await services.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(1)
  })

  const embedder = createLocalEmbedder(made.analyzer)
  const space = (org: string) => ({ org, model: modelKey(embedder), dimensions: embedder.dimensions })
  const store = (services: Services, ada: Caller, text: string) =>
    services.storeEntries(ada, [{ ok: true, value: { threadId: 't', source: 'user', text } }], {
      atomic: true,
      dedupe: true,
    })

  it('updates the index after each write with one round trip after its answer, over one queued row, and counts that as done', async () => {
    const ada = freshPrincipal()
    const trips = new Faults()
    const world = { ...bindings, DB: faulty(bindings.DB, ['batch'], trips) }
    const services = composeServices(world, parseConfig({ AUTH_MODE: 'open' }), {
      log: () => {},
      waitUntil: () => {},
      clock,
    })
    const index = createObjectVectorIndex(bindings.VECTORS)
    const told: number[] = []
    for (const text of ['a first walrus', 'a second walrus']) {
      await store(services, ada, text)
      trips.clear()
      await services.maintenance.workLeft()
      expect(trips.calls).toBe(1)
      told.push((await index.state(space(ada.org))).addedUpTo)
    }
    expect(told[1]).toBeGreaterThan(told[0] as number)
    const queued = bindings.DB.prepare('SELECT count(*) AS n FROM outbox WHERE org = ?').bind(ada.org)
    expect(await queued.first('n')).toBe(1)
    expect((await services.entries.statistics(ada)).work).toEqual({ pending: 0, failed: 0, oldestAt: null })
    trips.clear()
    await services.maintenance.workLeft()
    expect(trips.calls).toBe(0)
    await services.maintenance.work()
    expect(await queued.first('n')).toBe(0)
  })

  it('reports pending work when the index could not be updated, and updates it later', async () => {
    const ada = freshPrincipal()
    const index = createObjectVectorIndex(bindings.VECTORS)
    let isDown = true
    const services = composeServices(bindings, parseConfig({ AUTH_MODE: 'open' }), {
      ...{ log: () => {}, waitUntil: () => {}, clock },
      index: { ...index, state: (of) => (isDown ? Promise.reject(new Error('down')) : index.state(of)) },
    })
    await store(services, ada, 'an unheard walrus')
    await services.maintenance.workLeft()
    expect((await services.entries.statistics(ada)).work).toMatchObject({ pending: 1, failed: 0 })
    expect((await services.rankedSearches.byMeaning(ada, REQUEST)).total).toBe(1)
    isDown = false
    clock.advance(60_000)
    await services.maintenance.work()
    expect((await services.entries.statistics(ada)).work.pending).toBe(0)
    expect((await index.state(space(ada.org))).addedUpTo).toBeGreaterThan(0)
  })
})
