import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSqlSettings } from '../../src/adapters/sql/stores/maintenance/settings'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { bytesOf } from '../../src/adapters/vector-object/capacity'
import { VectorScan } from '../../src/adapters/vector-object/scan'
import { createVectorizeIndex } from '../../src/adapters/vectorize'
import { composeServices } from '../../src/composition/worker'
import type { VectorRegion } from '../../src/domain/meaning/chunk'
import { cosine, quantize, toBase64 } from '../../src/domain/meaning/vector'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import type { SimilarRequest, VectorPlace } from '../../src/ports/vector-index'
import { lateVectorize } from '../contracts/late-vectorize'
import { newestVectorsContract } from '../contracts/newest-vectors'
import { roundTrips, semanticSearchContract } from '../contracts/semantic-search'
import { FakeVectorize } from '../fakes/vectorize'
import { bindings, config, d1Adapters, migrate } from '../support/bindings'
import { freshPrincipal, TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

beforeAll(migrate)

semanticSearchContract('a Durable Object', () => ({
  index: createObjectVectorIndex(bindings.VECTORS),
  elapse: () => {},
  // With as many as production compares one by one: test/nightly.
  crowd: 600,
}))

// With more, with thousands of hits, and other delays: test/nightly.
lateVectorize('Vectorize, losing a tenth of its updates', 0.1, 600, false)

roundTrips()

// Four times as many: test/nightly.
newestVectorsContract(1)

describe('searches of an organization with more vectors than its object holds', () => {
  it('compare the newest, warn of the others, find those by words, by a narrow filter, and warn the operator', async () => {
    const index = createObjectVectorIndex(bindings.VECTORS, 40 * bytesOf(config.embedding.dimensions))
    const services = composeServices(bindings, config, { log: () => {}, waitUntil: () => {}, index })
    const caller = { ...freshPrincipal(), action: 'store_context', tool: 'store_context' }
    const drafts = Array.from({ length: 60 }, (_, i) => ({
      ok: true as const,
      value: {
        threadId: i === 0 ? 'first' : 'others',
        source: 'agent',
        text: `the harbour pilot number ${i}`,
      } as const,
    }))
    const stored = await services.storeEntries(caller, drafts, { atomic: true, dedupe: false })
    await services.maintenance.work()
    const [oldest] = stored.map((one) => ('id' in one ? one.id : 0))
    const request = { query: 'harbour pilot', filter: EVERYTHING, offset: 0, limit: 100, previewLength: 20 }
    const searches = services.rankedSearches
    const meant = await searches.byMeaning(caller, { ...request, explain: false } as never)
    expect(meant.warnings.join()).toMatch(/20 older memories are found by words only.*VECTOR_BACKEND=vectorize/)
    expect(meant.results.map(({ entry: { id } }) => id)).not.toContain(oldest)
    const filter: Filter = { op: 'thread', is: 'first' }
    expect((await searches.byMeaning(caller, { ...request, filter } as never)).results).toHaveLength(1)
    expect(await services.mostVectors()).toBeGreaterThanOrEqual(60)
    expect(services.vectorCapacity).toBe(40)
  })
})

describe('the Durable Object', () => {
  const space = () => ({ org: `org-${crypto.randomUUID()}`, model: 'm#4', dimensions: 4 })
  const index = createObjectVectorIndex(bindings.VECTORS)
  const standing = (id: number, layer: 1 | 2 | 3 = 2, project = 'p', reader = '') => ({
    ...{ id, entryId: id, place: { layer, project, reader } },
  })
  const vector = (...numbers: number[]) => quantize(Float32Array.from(numbers))
  const since = { addedUpTo: 0, removedUpTo: 0 }
  const changes = (ids: number[]) => ({
    since,
    added: ids.map((id) => ({ ...standing(id), data: toBase64(vector(1, id / 100, 0, 0)) })),
    addedUpTo: ids.at(-1) ?? 0,
    removed: [],
    removedUpTo: 0,
  })

  it('keeps its vectors when it is evicted, and loads them with the next search', async () => {
    const here = space()
    await index.apply(here, changes([1, 2, 3]))
    await evictDurableObject(bindings.VECTORS.getByName(`${here.org}\n${here.model}`))
    const { hits, confirmedUpTo, cut } = await index.search(here, vector(1, 0, 0, 0), 2)
    expect(hits.map(({ id }) => id)).toEqual([1, 2])
    expect([confirmedUpTo, cut]).toEqual([3, true])
  })

  it('loads many vectors in parts, and what is applied meanwhile is applied', async () => {
    const here = space()
    const ids = Array.from({ length: 5_000 }, (_, i) => i + 1)
    await index.apply(here, changes(ids))
    await evictDurableObject(bindings.VECTORS.getByName(`${here.org}\n${here.model}`))
    const search = () => index.search(here, vector(1, 0, 0, 0), 10_000)
    const [first, second] = await Promise.all([
      search(),
      search(),
      index.apply(here, { ...changes([6_001]), removed: [1, 2_500, 4_999], removedUpTo: 3 }),
    ])
    for (const { hits, confirmedUpTo } of [first, second, await search()]) {
      const found = hits.map(({ id }) => id).toSorted((a, b) => a - b)
      const before = confirmedUpTo === 5_000
      expect(found).toEqual(before ? ids : [...ids.filter((id) => ![1, 2_500, 4_999].includes(id)), 6_001])
    }
    expect((await search()).confirmedUpTo).toBe(6_001)
  })

  it('compares vectors of any size as the domain does', () => {
    const random = seeded(3)
    for (const size of [1, 31, 32, 33, 100, 512, 1536]) {
      const scan = new VectorScan(size)
      const some = () => Int8Array.from({ length: size }, () => Math.floor(random() * 255) - 127)
      const all = Array.from({ length: 1_500 }, some)
      for (const [i, values] of all.entries()) scan.set({ ...standing(i + 1), values })
      for (let id = 2; id <= all.length; id += 7) scan.delete(id)
      const query = some()
      const expected = all
        .flatMap((values, i) => (i % 7 === 1 ? [] : [[i + 1, cosine(query, values)] as const]))
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      for (const limit of [1, 40, 9_000]) {
        const { ids, cosines } = scan.nearest(query, limit)
        expect([...ids].map((id, i) => [id, cosines[i]])).toEqual(expected.slice(0, limit))
      }
    }
  })

  it('compares the vectors of one place as the domain does, however many others are in between', () => {
    const random = seeded(4)
    const some = () => Int8Array.from({ length: 8 }, () => Math.floor(random() * 255) - 127)
    for (const every of [2, 3, 10, 1_000]) {
      const scan = new VectorScan(8)
      const all = new Map(Array.from({ length: 10_000 }, (_, i) => [i + 1, some()]))
      const isElsewhere = (id: number) => id % every === 0
      for (const [id, values] of all) scan.set({ ...standing(id, 2, isElsewhere(id) ? 'q' : 'p'), values })
      // After a deletion and a restoration, the last vector of a place is not the last of all.
      for (let id = 1; id <= 10_000; id += 97) {
        scan.delete(id)
        all.delete(id)
      }
      for (let id = 1; id <= 10_000; id += 194) {
        all.set(id, some())
        scan.set({ ...standing(id, 2, isElsewhere(id) ? 'q' : 'p'), values: all.get(id) as Int8Array })
      }
      for (const project of ['p', 'q']) {
        const query = some()
        const expected = [...all]
          .filter(([id]) => isElsewhere(id) === (project === 'q'))
          .map(([id, values]) => [id, cosine(query, values)] as const)
          .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        const { ids, cosines, of } = scan.nearest(query, 50, (place) => place.project === project)
        expect([...ids].map((id, i) => [id, cosines[i]])).toEqual(expected.slice(0, 50))
        expect(of).toBe(expected.length)
      }
    }
  })

  it('searches the given region, and counts an entry once however many vectors it has', async () => {
    const here = space()
    const at = (id: number, entryId: number, y: number, place: VectorPlace | null) => ({
      ...{ id, entryId, place, data: toBase64(vector(1, y, 0, 0)) },
    })
    const inProject = (project: string, layer: 1 | 2 | 3 = 2, reader = '') => ({ layer, project, reader })
    const added = [
      ...Array.from({ length: 300 }, (_, i) => at(i + 1, 1, i / 10_000, inProject('p'))),
      ...Array.from({ length: 60 }, (_, i) => at(1_000 + i, 100 + i, 1 + i / 100, inProject('p'))),
      at(2_000, 200, 0, inProject('q')),
      at(2_001, 201, 0, inProject('p', 2, 'ben')),
      at(2_002, 202, 0, null),
      at(2_003, 203, 0.1, inProject('q', 3)),
      at(2_004, 204, 9, inProject('', 3)),
    ]
    await index.apply(here, { since, added, addedUpTo: 2_004, removed: [], removedUpTo: 0 })
    const scope = { org: here.org, projects: null, owner: 'ada' }
    const nearby = async (
      given: Partial<typeof scope> | { projects: string[] },
      request: Partial<SimilarRequest> = {},
    ) => {
      const asked = { layers: [2, 3] as const, most: 4, least: 0.3, project: 'p', beside: [], ...request }
      const found = await index.nearby?.(here, { ...scope, ...given }, vector(1, 0, 0, 0), asked)
      return found?.hits.map(({ id }) => id)
    }
    expect(await nearby({})).toEqual([1, 2_003, 1_000, 1_001])
    expect(await nearby({ owner: 'ben' })).toEqual([2_001, 1, 2_003, 1_000])
    expect(await nearby({}, { project: null })).toEqual([2_000, 1, 2_003, 1_000])
    expect(await nearby({ projects: ['p'] }, { project: null })).toEqual([1, 1_000, 1_001, 1_002])
    expect(await nearby({}, { layers: [3] })).toEqual([2_003])
    expect(await nearby({}, { project: 'nobody', beside: [2_002, 2_004, 7_777] })).toEqual([2_002, 2_004, 2_003])
    const inRegion = async (part: Partial<VectorRegion>, limit = 3) => {
      const region = { layers: null, projectScope: null, project: null, projects: null, owner: 'ada', ...part }
      const { hits, cut } = await index.search(here, vector(1, 0, 0, 0), limit, region)
      return [...hits.map(({ id }) => id), cut]
    }
    expect(await inRegion({ projectScope: 'p' })).toEqual([1, 2, 3, true])
    const [ofAda, ofBen] = [
      await inRegion({ projectScope: 'p' }, 999),
      await inRegion({ projectScope: 'p', owner: 'ben' }, 999),
    ]
    expect(ofBen.filter((id) => !ofAda.includes(id))).toEqual([2_001])
    expect([ofAda.length, ofAda.at(-1)]).toEqual([300 + 60 + 2 + 1, false])
    expect(await inRegion({ projectScope: 'q' })).toEqual([2_000, 2_003, 2_004, false])
    expect(await inRegion({ projectScope: 'p', layers: [3] })).toEqual([2_003, 2_004, false])
    expect(await inRegion({ projectScope: 'q', layers: [2, 3], project: 'q' }, 1)).toEqual([2_000, true])
    expect(await inRegion({ projects: ['q'] })).toEqual([2_000, 2_003, 2_004, false])
    expect(await inRegion({ projects: [], layers: [1] })).toEqual([false])
  })

  it('asks for everything again where another release has kept vectors in a table of another shape', async () => {
    const here = space()
    const object = bindings.VECTORS.getByName(`${here.org}\n${here.model}`)
    await index.apply(here, changes([1, 2, 3]))
    await runInDurableObject(object, async (_, state) => {
      state.storage.sql.exec('DROP TABLE vectors')
      state.storage.sql.exec('CREATE TABLE vectors (id INTEGER PRIMARY KEY, data BLOB NOT NULL)')
    })
    await evictDurableObject(object)
    expect(await index.state(here)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
    await index.apply(here, changes([1, 2, 3]))
    expect((await index.search(here, vector(1, 0, 0, 0), 9)).hits.map(({ id }) => id)).toEqual([1, 2, 3])
  })

  it('accepts changes twice, in any mix with removals', async () => {
    const here = space()
    await index.apply(here, changes([1, 2, 3]))
    await index.apply(here, { ...changes([2, 3]), removed: [1, 99], removedUpTo: 5 })
    expect((await index.search(here, vector(1, 0, 0, 0), 9)).hits.map(({ id }) => id)).toEqual([2, 3])
    expect(await index.state(here)).toEqual({ addedUpTo: 3, removedUpTo: 5 })
  })

  it('is rebuilt when its storage is lost', async () => {
    const here = space()
    await index.apply(here, changes([1, 2]))
    await runInDurableObject(bindings.VECTORS.getByName(`${here.org}\n${here.model}`), async (_, state) => {
      state.storage.sql.exec('DELETE FROM vectors')
      state.storage.sql.exec('DELETE FROM progress')
    })
    await evictDurableObject(bindings.VECTORS.getByName(`${here.org}\n${here.model}`))
    expect(await index.state(here)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
  })

  it('moves the last vector into the place of one that goes', () => {
    const scan = new VectorScan(2)
    for (let id = 1; id <= 5_000; id++) scan.set({ ...standing(id), values: Int8Array.of(id % 100, 1) })
    for (let id = 1; id <= 5_000; id += 2) scan.delete(id)
    expect(scan.size).toBe(2_500)
    const ids = [...scan.nearest(Int8Array.of(1, 0), 2_500).ids]
    expect(ids.every((id) => id % 2 === 0)).toBe(true)
    expect(new Set(ids).size).toBe(2_500)
  })
})

describe('Vectorize', () => {
  it('answers unavailable when it fails, without a word of the inside', async () => {
    const clock = new TestClock()
    const binding = new FakeVectorize(seeded(1))
    const index = createVectorizeIndex(binding, createSqlSettings(d1Adapters(clock).connection), clock)
    binding.failing = true
    const search = index.search({ org: 'o', model: 'm#2', dimensions: 2 }, quantize(Float32Array.of(1, 0)), 5)
    await expect(search).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining('injected'),
    })
  })
})
