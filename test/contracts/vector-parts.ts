import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { isolateMemory, VectorObject } from '../../src/adapters/vector-object/object'
import { bytesOf, capacityOf, VectorScan } from '../../src/adapters/vector-object/scan'
import type { VectorRegion } from '../../src/domain/meaning/region'
import { cosine, type QuantizedVector, quantize, toBase64 } from '../../src/domain/meaning/vector'
import type { NearbyRequest, VectorChanges, VectorPlace } from '../../src/ports/vector-index'
import { bindings } from '../support/bindings'
import { seeded } from '../support/seeded'

const DIMENSIONS = 4
/** Vectors that one object takes here. */
const CAPACITY = 20
const BYTES = CAPACITY * bytesOf(DIMENSIONS)

interface Known {
  readonly id: number
  readonly entryId: number
  readonly place: VectorPlace | null
  readonly vector: QuantizedVector
}

/** A space, its updates, and the result of comparing all vectors one by one. */
function world(seed: number) {
  const random = seeded(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const space = { org: `org-${crypto.randomUUID()}`, model: `m#${DIMENSIONS}`, dimensions: DIMENSIONS }
  const name = `${space.org}\n${space.model}`
  const asked: string[] = []
  const namespace = {
    getByName: (of: string) => {
      asked.push(of)
      return bindings.VECTORS.getByName(of)
    },
  }
  const index = createObjectVectorIndex(namespace as typeof bindings.VECTORS, BYTES)
  const known = new Map<number, Known>()
  let [lastId, lastEntry, removals] = [0, 0, 0]
  // Few different numbers, so that many are equally near.
  const vector = () => quantize(Float32Array.from({ length: DIMENSIONS }, () => Math.round(random() * 4) - 2))
  const place = (): VectorPlace | null =>
    random() < 0.1
      ? null
      : { layer: pick([1, 2, 3] as const), project: pick(['', 'p', 'q']), reader: pick(['', '', 'ada', 'ben']) }

  /** Added vectors get new ids, now and then several per entry; they are known at once. */
  function changes(adds: number, removes: readonly number[]) {
    const since = { addedUpTo: lastId, removedUpTo: removals }
    const added = Array.from({ length: adds }, (): Known => {
      lastId += 1 + Math.floor(random() * 3)
      if (random() < 0.7) lastEntry++
      return { id: lastId, entryId: lastEntry, place: place(), vector: vector() }
    })
    removals += removes.length
    return {
      since,
      added: added.map(({ vector: of, ...rest }) => ({ ...rest, data: toBase64(of) })),
      ...{ addedUpTo: lastId, removed: removes, removedUpTo: removals },
      know() {
        for (const one of added) known.set(one.id, one)
        for (const id of removes) known.delete(id)
      },
    }
  }
  let last: VectorChanges | null = null
  /** @param tries number of retries after failures */
  async function tell(adds: number, removes: readonly number[] = [], tries = 1): Promise<void> {
    const { know, ...told } = changes(adds, removes)
    last = told
    for (let left = tries; ; left--) {
      try {
        await index.apply(space, told)
        break
      } catch (error) {
        if (left <= 1) throw error
      }
    }
    know()
  }
  const repeat = async () => last && index.apply(space, last)
  /** As `sync-vectors` does after the index was rebuilt. */
  async function tellAgain(): Promise<void> {
    const added = [...known.values()].map(({ vector: of, ...rest }) => ({ ...rest, data: toBase64(of) }))
    const since = await index.state(space)
    await index.apply(space, {
      ...{ since, added: added.filter(({ id }) => id > since.addedUpTo), addedUpTo: lastId },
      ...{ removed: [], removedUpTo: removals },
    })
  }
  const nearest = (query: QuantizedVector, stands: (place: VectorPlace | null) => boolean) =>
    [...known.values()]
      .filter((one) => stands(one.place))
      .map(({ id, entryId, vector: of }) => ({ id, entryId, cosine: cosine(query.values, of.values) }))
      .sort((a, b) => b.cosine - a.cosine || a.id - b.id)

  async function expectSame(limit: number, region: VectorRegion | null = null): Promise<void> {
    const query = vector()
    const truth = nearest(
      query,
      (at) =>
        region === null ||
        (at !== null &&
          (region.layers === null || region.layers.includes(at.layer)) &&
          (region.project === null || at.project === region.project) &&
          (at.reader === '' || at.reader === region.owner)),
    )
    const found = await index.search(space, query, limit, region)
    expect(found).toEqual({
      hits: truth.slice(0, limit).map(({ id, entryId, cosine: near }) => ({ id, entryId, cosine: near })),
      ...{ confirmedUpTo: lastId, cut: truth.length > limit },
    })
  }
  async function expectSameNearby(): Promise<void> {
    const query = vector()
    const layers = pick([[1, 2, 3], [2], [1, 3]] as const)
    const [most, least] = [1 + Math.floor(random() * 12), 0.2]
    const beside = [...known.keys()].filter(() => random() < 0.05)
    const request: NearbyRequest = { layers, most, least, project: pick(['p', null]), beside: [...beside, lastId + 1] }
    const found = await index.nearby?.(space, { org: space.org, projects: ['p'], owner: 'ada' }, query, request)
    const nearestEntries = () => {
      const stands = (at: VectorPlace | null) =>
        at !== null &&
        layers.some((layer) => layer === at.layer) &&
        (at.layer === 3 || request.project === null || at.project === request.project) &&
        ['', 'ada'].includes(at.reader) &&
        ['', 'p'].includes(at.project)
      const byEntry = new Map<number, number>()
      for (const hit of nearest(query, stands).filter((one) => one.cosine >= least))
        if (!byEntry.has(hit.entryId)) byEntry.set(hit.entryId, hit.cosine)
      return [...byEntry].sort(([a, near], [b, nearB]) => nearB - near || b - a).slice(0, most)
    }
    const named = new Set(beside)
    const entries = (found?.hits ?? [])
      .filter(({ id }) => !named.has(id))
      .map(({ id, cosine: near }) => [known.get(id)?.entryId, near])
    // An entry is returned by one of its vectors, unless that was named.
    const expected = nearestEntries()
    const isNamed = ([entry, near]: readonly [number, number]) =>
      beside.some(
        (id) =>
          known.get(id)?.entryId === entry && cosine(query.values, (known.get(id) as Known).vector.values) === near,
      )
    expect(entries).toEqual(expect.arrayContaining(expected.filter((one) => !isNamed(one))))
    expect(expected).toEqual(expect.arrayContaining(entries))
    expect(
      found?.hits
        .filter(({ id }) => named.has(id))
        .map(({ id }) => id)
        .sort((a, b) => a - b),
    ).toEqual(beside)
    expect(found?.confirmedUpTo).toBe(lastId)
  }
  const region = (): VectorRegion => ({
    ...{ layers: pick([null, [2], [1, 3]] as const), project: pick([null, 'p']), projects: null, projectScope: null },
    owner: 'ada',
  })
  const part = (n: number) => bindings.VECTORS.getByName(n === 0 ? name : `${name}\n${n}`)
  const partsNow = () =>
    runInDurableObject(part(0), (_, { storage }) =>
      storage.sql.exec<{ n: number; held: number }>('SELECT n, held FROM parts ORDER BY first').toArray(),
    )
  return {
    ...{ space, index, known, asked, part, partsNow, random, pick, vector, region },
    ...{ changes, tell, repeat, tellAgain, expectSame, expectSameNearby },
    last: () => lastId,
  }
}

/**
 * Promises of vectors in several objects, however they are split.
 *
 * @param plays how many random lives of an index, each with a seed of its own
 */
export function vectorPartsContract(plays: number): void {
  describe('vectors in several Durable Objects', () => {
    afterEach(() => void vi.restoreAllMocks())

    it('are found exactly as by comparing all, through additions, deletions, moves, evictions and repeated changes', async () => {
      for (let seed = 1; seed <= plays; seed++) {
        const here = world(seed)
        const { random, pick, known } = here
        for (let round = 0; round < 16; round++) {
          const gone = [...known.keys()].filter(() => random() < (round % 9 === 8 ? 0.7 : 0.08))
          await here.tell(Math.floor(random() * 2.2 * CAPACITY), gone)
          if (random() < 0.3) await here.repeat()
          // One that is not running has nothing to lose.
          if (random() < 0.2) await evictDurableObject(here.part(pick([0, 1, 2]))).catch(() => {})
          await here.expectSame(pick([1, 7, 40, 10_000]))
          await here.expectSame(pick([1, 7, 40]), here.region())
          await here.expectSameNearby()
        }
        expect((await here.partsNow()).length).toBeGreaterThan(2)
        for (const { held } of await here.partsNow()) expect(held).toBeLessThanOrEqual(CAPACITY)
      }
    })

    it('are found exactly where any request of an object to another may fail, before or after its work', async () => {
      for (let seed = 1; seed <= plays; seed++) {
        const here = world(20 + seed)
        const faults = seeded(seed)
        for (const method of ['take', 'portion', 'clear'] as const) {
          const whole = VectorObject.prototype[method] as (...given: unknown[]) => unknown
          vi.spyOn(VectorObject.prototype, method).mockImplementation(function (
            this: VectorObject,
            ...given: unknown[]
          ) {
            const chance = faults()
            if (chance < 0.1) throw new Error('injected')
            const done = whole.apply(this, given)
            if (chance < 0.2) throw new Error('injected')
            return done as never
          })
        }
        for (let round = 0; round < 12; round++) {
          const gone = [...here.known.keys()].filter(() => here.random() < (round % 4 === 3 ? 0.7 : 0.1))
          await here.tell(Math.floor(here.random() * 2.2 * CAPACITY), gone, 100)
          await here.expectSame(10_000)
          await here.expectSame(7, here.region())
        }
        vi.restoreAllMocks()
        expect((await here.partsNow()).length).toBeGreaterThan(1)
      }
    })

    it('are merged again when most of them are deleted', async () => {
      const here = world(17)
      await here.tell(8 * CAPACITY)
      expect(await here.partsNow()).toHaveLength(7)
      const rest = [...here.known.keys()].filter((_, i) => i % 10 > 0)
      while (rest.length > 0) {
        await here.tell(0, rest.splice(0, 10))
        await here.expectSame(10_000)
      }
      expect(here.known.size).toBe((8 * CAPACITY) / 10)
      // Some move with every change that takes something away, which need not be there.
      for (let i = 0; i < 40; i++) await here.tell(0, [here.last() + 1])
      await here.expectSame(10_000)
      expect((await here.partsNow()).length).toBeLessThanOrEqual(1)
      await here.tell(CAPACITY)
      await here.expectSame(10_000)
      await here.expectSameNearby()
    })

    it('cost an org with one part one request, and one a part where there are more', async () => {
      const { asked, ...here } = world(7)
      await here.tell(CAPACITY)
      asked.length = 0
      await here.expectSame(5)
      await here.expectSameNearby()
      expect(asked).toHaveLength(2)
      await here.tell(2 * CAPACITY)
      asked.length = 0
      // Updates that this isolate does not know are requested once.
      await here.expectSame(5)
      expect(asked).toHaveLength(3)
      await here.expectSame(5)
      expect(asked).toHaveLength(6)
      expect(new Set(asked).size).toBe(3)
    })

    it('are the same after changes that a part missed, when sent again', async () => {
      const here = world(8)
      await here.tell(4 * CAPACITY)
      const upTo = here.last()
      const { know, ...told } = here.changes(
        2 * CAPACITY,
        [...here.known.keys()].filter((id) => id % 3 === 0),
      )
      const whole = VectorObject.prototype.take
      let calls = 0
      vi.spyOn(VectorObject.prototype, 'take').mockImplementation(function (this: VectorObject, change) {
        if (++calls === 2) throw new Error('injected')
        return whole.call(this, change)
      })
      await expect(here.index.apply(here.space, told)).rejects.toMatchObject({ code: 'unavailable' })
      expect(calls).toBeGreaterThanOrEqual(3)
      const { hits, confirmedUpTo } = await here.index.search(here.space, here.vector(), 10_000)
      expect(confirmedUpTo).toBe(upTo)
      const found = new Set(hits.map(({ id }) => id))
      for (const id of here.known.keys()) if (!told.removed.includes(id)) expect(found.has(id)).toBe(true)
      // Some of it is deleted before it is sent again, so that parts start at other ids.
      const added = told.added.filter(({ id }) => id % 5 > 0)
      await here.index.apply(here.space, { ...told, added })
      know()
      for (const { id } of told.added) if (!added.some((one) => one.id === id)) here.known.delete(id)
      await here.expectSame(10_000)
      await here.expectSame(7)
    })

    it('are asked again if a part answered before it had the updates of the first object', async () => {
      const here = world(9)
      await here.tell(CAPACITY + 3)
      await here.expectSame(9)
      const query = here.vector()
      const whole = VectorObject.prototype.search
      const late = await here.part(1).search(DIMENSIONS, query.values, 10_000)
      await here.tell(2)
      let answers = 0
      vi.spyOn(VectorObject.prototype, 'search').mockImplementation(async function (this: VectorObject, ...given) {
        const answer = await whole.apply(this, given)
        return answer.parts.length === 0 && ++answers === 1 ? late : answer
      })
      await here.expectSame(10_000)
      expect(answers).toBe(2)
    })

    it('are asked again where neighbours were put together after the first object had answered', async () => {
      const here = world(18)
      await here.tell(4 * CAPACITY)
      await here.expectSame(9)
      const query = here.vector()
      const whole = VectorObject.prototype.search
      const early = await here.part(0).search(DIMENSIONS, query.values, 10_000)
      const gone = [...here.known.keys()].slice(CAPACITY).filter((_, i) => i % 5 > 0)
      for (let i = 0; i < 9; i++) await here.tell(0, gone.splice(0, 6))
      expect(await here.partsNow()).not.toEqual(early.parts.map(({ n, held }) => ({ n, held })))
      let answers = 0
      vi.spyOn(VectorObject.prototype, 'search').mockImplementation(async function (this: VectorObject, ...given) {
        const answer = await whole.apply(this, given)
        return answer.parts.length > 0 && ++answers === 1 ? early : answer
      })
      await here.expectSame(10_000)
      expect(answers).toBe(2)
    })

    it('never leave out vectors that they report as known, while they are updated and merged', async () => {
      const here = world(10)
      const leaving = new Set<number>()
      let isDone = false
      const search = async () => {
        while (!isDone) {
          const { hits, confirmedUpTo } = await here.index.search(here.space, here.vector(), 10_000)
          const found = new Set(hits.map(({ id }) => id))
          expect(found.size).toBe(hits.length)
          const due = [...here.known.keys()].filter((id) => id <= confirmedUpTo && !leaving.has(id))
          expect(due.filter((id) => !found.has(id))).toEqual([])
        }
      }
      const tell = async () => {
        for (let i = 0; i < 15 * plays; i++) {
          const gone = [...here.known.keys()].filter(() => i % 6 > 1 && here.random() < 0.25)
          for (const id of gone) leaving.add(id)
          await here.tell(i % 6 < 2 ? 2 * CAPACITY : 1, gone)
        }
        isDone = true
      }
      await Promise.all([search(), search(), tell()])
      await here.expectSame(10_000)
    })

    it('are rebuilt when a search or a change finds that a part has lost its data', async () => {
      const here = world(11)
      await here.tell(3 * CAPACITY)
      const lose = async (n: number) => {
        await runInDurableObject(here.part(n), (_, { storage }) => {
          storage.sql.exec('DELETE FROM vectors')
          storage.sql.exec('DELETE FROM progress')
        })
        await evictDurableObject(here.part(n))
      }
      await lose(1)
      expect(await here.index.search(here.space, here.vector(), 5)).toEqual({ hits: [], confirmedUpTo: 0, cut: false })
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
      await here.tellAgain()
      await here.expectSame(10_000)
      await lose(2)
      await expect(here.tell(1, [here.last()])).rejects.toMatchObject({ code: 'unavailable', retryable: true })
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
      await here.tellAgain()
      expect(await here.index.state(here.space)).toMatchObject({ addedUpTo: here.last() })
      // The first object alone, which has the list: all of them are rebuilt.
      await lose(0)
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
      expect(await here.part(1).stretch()).toEqual({ first: 0, upTo: 0 })
      await here.tellAgain()
      await here.expectSame(10_000)
    })

    it('are rebuilt after a release that knows one object only has updated just the first of them', async () => {
      const here = world(12)
      await here.tell(3 * CAPACITY)
      await runInDurableObject(here.part(0), (_, { storage: { sql } }) => {
        const [table] = sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'vectors'").toArray()
        sql.exec('DROP TABLE vectors')
        sql.exec(String(table?.sql).replace(', parted INTEGER', ''))
        sql.exec("UPDATE progress SET value = 5 WHERE name = 'added'")
      })
      await evictDurableObject(here.part(0))
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
      await here.tellAgain()
      await here.expectSame(10_000)
    })

    it('are rebuilt when an earlier release stored more in one object than is allowed now', async () => {
      const here = world(13)
      const before = createObjectVectorIndex(bindings.VECTORS)
      const { know, ...told } = here.changes(3 * CAPACITY, [])
      await before.apply(here.space, told)
      know()
      await here.expectSame(10_000)
      await expect(here.tell(1)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
      await here.tellAgain()
      await here.expectSame(10_000)
      expect((await here.partsNow()).length).toBe(2)
    })

    it('refuse changes after an unknown state, when they were rebuilt meanwhile', async () => {
      const here = world(14)
      await here.tell(5)
      await here.index.forget(here.space)
      await expect(here.tell(5)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
    })

    it('share the memory of an isolate: the least recently used are freed, and loaded again by its next search', async () => {
      const before = isolateMemory.bound
      try {
        const here = world(15)
        await here.tell(4 * CAPACITY)
        // Memory is allocated in blocks, and each of them needs one.
        isolateMemory.bound = 1.5 * 512 * bytesOf(DIMENSIONS)
        for (let i = 0; i < 3; i++) {
          await here.expectSame(10_000)
          expect(isolateMemory.bytes).toBeLessThan(isolateMemory.bound)
          await here.tell(2, [[...here.known.keys()][i] as number])
        }
        await Promise.all([here.expectSame(3), here.expectSameNearby(), here.expectSame(9, here.region())])
        isolateMemory.bound = before
        await here.expectSame(10_000)
        expect(isolateMemory.bytes).toBeGreaterThan(4 * 512 * bytesOf(DIMENSIONS))
      } finally {
        isolateMemory.bound = before
      }
    })

    it('fill an object no further than that two of them fit into an isolate', () => {
      const values = new Int8Array(1536)
      const scan = new VectorScan(1536)
      const capacity = capacityOf(1536, 40_000_000)
      for (let id = 1; id <= capacity; id++) scan.set({ id, entryId: id, place: null, values })
      expect(scan.bytes).toBeLessThanOrEqual(40_000_000)
      expect(scan.bytes).toBeGreaterThan(39_000_000)
      scan.release()
    })

    it('are refused where they would be too many objects, with what to use instead', async () => {
      const here = world(16)
      const single = createObjectVectorIndex(bindings.VECTORS, 1)
      const { know: _, ...told } = here.changes(33, [])
      const fitting = told.added.slice(0, 32)
      await single.apply(here.space, { ...told, added: fitting, addedUpTo: fitting.at(-1)?.id ?? 0 })
      await expect(single.apply(here.space, told)).rejects.toThrow('VECTOR_BACKEND=vectorize')
      expect((await single.search(here.space, here.vector(), 100)).hits).toHaveLength(32)
    })
  })
}
