import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { bytesOf, capacityOf } from '../../src/adapters/vector-object/capacity'
import { isolateMemory } from '../../src/adapters/vector-object/object'
import { VectorScan } from '../../src/adapters/vector-object/scan'
import type { VectorRegion } from '../../src/domain/meaning/chunk'
import { cosine, type QuantizedVector, quantize, toBase64 } from '../../src/domain/meaning/vector'
import type { SimilarRequest, VectorPlace } from '../../src/ports/vector-index'
import { bindings } from '../support/bindings'
import { seeded } from '../support/seeded'

const DIMENSIONS = 4
/** Vectors that one object takes here. */
const CAPACITY = 40
const BYTES = CAPACITY * bytesOf(DIMENSIONS)

interface Known {
  readonly id: number
  readonly entryId: number
  readonly place: VectorPlace | null
  readonly vector: QuantizedVector
}

/** Creates a vector space, its changes so far, and the results of an exhaustive comparison. */
function world(seed: number) {
  const random = seeded(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const space = { org: `org-${crypto.randomUUID()}`, model: `m#${DIMENSIONS}`, dimensions: DIMENSIONS }
  const name = `${space.org}\n${space.model}`
  const index = createObjectVectorIndex(bindings.VECTORS, BYTES)
  /** All vectors, and those of them that the object left out; with 1 the last of their entries. */
  const known = new Map<number, Known>()
  const leftOut = new Map<number, 0 | 1>()
  const held = () => [...known.values()].filter(({ id }) => !leftOut.has(id))
  let [lastId, lastEntry, removals] = [0, 0, 0]
  // Few different numbers, so that many are equally near.
  const vector = () => quantize(Float32Array.from({ length: DIMENSIONS }, () => Math.round(random() * 4) - 2))
  const place = (): VectorPlace | null =>
    random() < 0.1
      ? null
      : { layer: pick([1, 2, 3] as const), project: pick(['', 'p', 'q']), reader: pick(['', '', 'ada', 'ben']) }

  /** Adds and removes vectors. Added ones get new IDs, sometimes several for one entry, and are searchable immediately. */
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
        for (const id of removes) {
          known.delete(id)
          leftOut.delete(id)
        }
        cut()
      },
    }
  }
  /** The oldest of more than fit are left out. */
  function cut(): void {
    const [all, most] = [held(), CAPACITY]
    for (const [i, { id, entryId }] of all.slice(0, Math.max(0, all.length - most)).entries())
      leftOut.set(id, all[i + 1]?.entryId === entryId ? 0 : 1)
  }
  /** As `sync-vectors` does: an index that began again is sent everything. */
  async function tellAgain(): Promise<void> {
    const since = await index.state(space)
    if (since.addedUpTo === 0) leftOut.clear()
    const added = [...known.values()].filter(({ id }) => id > since.addedUpTo)
    await index.apply(space, {
      ...{ since, added: added.map(({ vector: of, ...rest }) => ({ ...rest, data: toBase64(of) })), addedUpTo: lastId },
      ...{ removed: [], removedUpTo: removals },
    })
    cut()
  }
  let repeat = async (): Promise<void> => {}
  async function tell(adds: number, removes: readonly number[] = []): Promise<void> {
    const { know, ...told } = changes(adds, removes)
    await index.apply(space, told)
    repeat = () => index.apply(space, told)
    know()
    if (leftOut.size > 0 && held().length < CAPACITY / 2) await tellAgain()
  }
  const nearest = (query: QuantizedVector, stands: (place: VectorPlace | null) => boolean) =>
    held()
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
    expect(index.leftOut(space)).toBe([...leftOut.values()].reduce<number>((sum, ends) => sum + ends, 0))
    expect(found).toEqual({
      hits: truth.slice(0, limit).map(({ id, entryId, cosine: near }) => ({ id, entryId, cosine: near })),
      ...{ confirmedUpTo: lastId, cut: truth.length > limit },
    })
  }
  async function expectSameNearby(): Promise<void> {
    const query = vector()
    const layers = pick([[1, 2, 3], [2], [1, 3]] as const)
    const [most, least] = [1 + Math.floor(random() * 12), 0.2]
    const beside = held().flatMap(({ id }) => (random() < 0.05 ? [id] : []))
    const request: SimilarRequest = { layers, most, least, project: pick(['p', null]), beside: [...beside, lastId + 1] }
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
    // An entry is found by one of its vectors, unless that one was named.
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
  return {
    ...{ space, index, known, leftOut, random, pick, vector, region, object: bindings.VECTORS.getByName(name), name },
    ...{ changes, tell, repeat: () => repeat(), tellAgain, expectSame, expectSameNearby },
    last: () => lastId,
  }
}

/**
 * The vectors of an organization in a Durable Object that holds the newest of them.
 *
 * @param plays how many random lives of an index, each with a seed of its own
 */
export function newestVectorsContract(plays: number): void {
  describe('the newest vectors in a Durable Object', () => {
    it('are found exactly as by comparing them, through additions, deletions, moves, evictions and repeated changes', async () => {
      let [most, again] = [0, 0]
      for (let seed = 1; seed <= plays; seed++) {
        const here = world(seed)
        const { random, pick, known, leftOut } = here
        for (let round = 0; round < 24; round++) {
          const gone = [...known.keys()].filter(() => random() < (round % 9 === 8 ? 0.7 : 0.08))
          await here.tell(Math.floor(random() * 0.8 * CAPACITY), gone)
          if (random() < 0.3) await here.repeat()
          // One that is not running has nothing to lose.
          if (random() < 0.2) await evictDurableObject(here.object).catch(() => {})
          await here.expectSame(pick([1, 7, 40, 10_000]))
          await here.expectSame(pick([1, 7, 40]), here.region())
          await here.expectSameNearby()
          if (most > 0 && leftOut.size === 0) again++
          most = Math.max(most, leftOut.size)
        }
      }
      expect([most > 20, again > 0]).toEqual([true, true])
    })

    it('count the entries that are found by words only, until they are deleted', async () => {
      const here = world(3)
      await here.tell(3 * CAPACITY)
      await here.expectSame(5)
      const before = here.index.leftOut(here.space)
      expect(before).toBeGreaterThan(CAPACITY)
      await here.tell(0, [...here.leftOut.keys()])
      await here.expectSame(5)
      expect(here.index.leftOut(here.space)).toBe(0)
    })

    it('are sent again by the database after a release that had several objects, which are emptied', async () => {
      const here = world(4)
      const part = bindings.VECTORS.getByName(`${here.name}\n1`)
      const { know, ...told } = here.changes(CAPACITY, [])
      await here.index.apply(here.space, told)
      know()
      await part.apply(DIMENSIONS, { ...told, since: { addedUpTo: 0, removedUpTo: 0 } }, `${here.name}\n1`, BYTES)
      await runInDurableObject(here.object, (_, { storage: { sql } }) => {
        sql.exec('ALTER TABLE vectors ADD COLUMN parted INTEGER')
        sql.exec(
          'CREATE TABLE parts (n INTEGER PRIMARY KEY, first INTEGER NOT NULL, told INTEGER NOT NULL, held INTEGER NOT NULL)',
        )
        sql.exec('INSERT INTO parts (n, first, told, held) VALUES (1, 9, 99, 40)')
      })
      await evictDurableObject(here.object)
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
      await here.tellAgain()
      await here.expectSame(10_000)
      expect(await part.state()).toEqual({ addedUpTo: 0, removedUpTo: 0 })
    })

    it('are those that fit, where an earlier release put more into the object', async () => {
      const here = world(13)
      const before = createObjectVectorIndex(bindings.VECTORS)
      const { know, ...told } = here.changes(3 * CAPACITY, [])
      await before.apply(here.space, told)
      know()
      await here.tell(1)
      await here.expectSame(10_000)
    })

    it('refuse changes that follow what they have not heard of, since they began again meanwhile', async () => {
      const here = world(14)
      await here.tell(5)
      await here.index.forget(here.space)
      await expect(here.tell(5)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await here.index.state(here.space)).toEqual({ addedUpTo: 0, removedUpTo: 0 })
    })

    it('share what an isolate can spare: what was not asked for longest is freed, and loaded again by its next search', async () => {
      const before = isolateMemory.bound
      try {
        const worlds = [world(15), world(16), world(17)] as const
        for (const here of worlds) await here.tell(CAPACITY)
        // Memory is allocated in blocks, and each of them needs one.
        isolateMemory.bound = 1.5 * 512 * bytesOf(DIMENSIONS)
        for (let i = 0; i < 3; i++)
          for (const here of worlds) {
            await here.expectSame(10_000)
            expect(isolateMemory.bytes).toBeLessThan(isolateMemory.bound)
            await here.tell(2, [[...here.known.keys()][i] as number])
          }
        await Promise.all(worlds.flatMap((here) => [here.expectSame(3), here.expectSame(9, here.region())]))
      } finally {
        isolateMemory.bound = before
      }
    })

    it('take no more than two of which fit into an isolate', () => {
      const values = new Int8Array(1536)
      const scan = new VectorScan(1536)
      const capacity = capacityOf(1536, 40_000_000)
      for (let id = 1; id <= capacity; id++) scan.set({ id, entryId: id, place: null, values })
      expect(scan.bytes).toBeLessThanOrEqual(40_000_000)
      expect(scan.bytes).toBeGreaterThan(39_000_000)
      scan.release()
    })
  })
}
