import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../src/domain/identity/scope'
import { recallFilter } from '../../src/domain/recall/recall-filter'
import { RETRIEVER_LIMIT } from '../../src/domain/recall/similarity'
import { freshPrincipal } from '../support/scope'
import { type RecallGround, recallWorld } from './recall-world'

const MODES = ['keyword', 'semantic', 'hybrid'] as const
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Results of recall, their scores and order, and the costs (fabric contract §4). */
/** @param isLarge also with thousands of entries, and hundreds of matches */
export function recallContract(name: string, make: () => RecallGround, isLarge = true): void {
  describe(`${name} recalls memories`, () => {
    let ground: RecallGround
    let ada: Caller
    let world: ReturnType<typeof recallWorld>
    beforeEach(() => {
      ground = make()
      ada = freshPrincipal()
      world = recallWorld(ground, ada)
    })

    const ids = async (...given: Parameters<(typeof world)['page']>) =>
      (await world.page(...given)).results.map(({ id }) => id)
    const rows = async (what: ReturnType<typeof sql>) => (await ground.connection.batch([what]))[0] ?? []

    it('[FABRIC-57, FABRIC-155] computes similarity in words and meaning by one formula for each mode, and applies the threshold to it', async () => {
      world.embedder.means('red harbour', 1, 0, 0)
      world.embedder.means('quay', 0.8, 0.6, 0)
      world.embedder.means('boat', 0.3, 0, Math.sqrt(1 - 0.09))
      const words = await world.store('the red harbour')
      const meaning = await world.store('a quay by the sea')
      const half = await world.store('a boat, red of course')
      await world.store('taxes are due in May')
      const [common, rare] = [2, 1].map((holding) => Math.log(1_004 / (holding + 1)) ** 2) as [number, number]
      const share = common / (common + rare)
      const joint = (m: number, k: number): number => 1 - 0.3 ** ((m + k) / 0.7)
      const expected = {
        keyword: { [words]: [1, 'keyword'], [half]: [share ** 0.2, 'keyword'] },
        semantic: {
          [words]: [1 - 0.3 ** 2, 'semantic'],
          [meaning]: [1 - 0.3 ** 1.6, 'semantic'],
          [half]: [1 - 0.3 ** 0.6, 'semantic'],
        },
        hybrid: {
          [words]: [joint(1, 1), 'both'],
          [meaning]: [joint(0.8, 0), 'semantic'],
          [half]: [joint(0.3, share), 'both'],
        },
      }
      for (const mode of MODES) {
        const { results } = await world.page('red harbour', { mode, threshold: 0 })
        const told = Object.fromEntries(results.map(({ id, similarity, matched }) => [id, [similarity, matched]]))
        const given = Object.entries<(string | number)[]>(expected[mode])
        expect([mode, told]).toEqual([
          mode,
          Object.fromEntries(given.map(([id, [close, by]]) => [id, [expect.closeTo(close as number, 1), by]])),
        ])
      }
      // At a threshold the retrievers that reach it alone are named, and both where neither does.
      const at = async (threshold: number) => {
        const { results } = await world.page('red harbour', { threshold })
        return Object.fromEntries(results.map(({ id, matched }) => [id, matched]))
      }
      expect(await at(0.7)).toEqual({ [words]: 'both', [meaning]: 'semantic', [half]: 'keyword' })
    })

    it('returns the most similar memories where none passes, on the first page only', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      for (const [i, near] of [0.1, 0.2, 0.3, 0.4].entries()) {
        world.embedder.means(`place ${i}`, near, Math.sqrt(1 - near ** 2), 0)
        await world.store(`place ${i} ${'is far from here and '.repeat(40)}`)
      }
      const { results, total, below } = await world.page('harbour')
      expect([results, total, below?.count]).toEqual([[], 0, 4])
      expect(below?.best.map(({ similarity }) => similarity)).toEqual(
        [0.4, 0.3, 0.2].map((near) => expect.closeTo(1 - 0.3 ** (near / 0.7), 2)),
      )
      expect(below?.best[0]?.excerpt).toMatch(/^place 3 is far .* (?:here|and|far|from|is)$/)
      expect([...(below?.best[0]?.excerpt ?? '')].length).toBeLessThanOrEqual(200)
      expect((await world.page('harbour', { offset: 1 })).below).toBeNull()
      expect((await world.page('harbour', { threshold: 0.1 })).below).toBeNull()
      expect((await world.page('submarine', { mode: 'keyword' })).below).toBeNull()
    })

    it('[FABRIC-42] ranks memories of another home project after all of this project, on every page', async () => {
      world.embedder.means('lamp', 1, 0, 0)
      const layer = 3 as const
      const away = await world.store('a lamp', { layer, metadata: { projectPath: 'q', weight: 5 } })
      const everywhere = await world.store('a lamp', { layer, metadata: { projectPath: 'r', tags: ['global'] } })
      const homeless = await world.store('a lamp', { layer })
      const own = await world.store('a lamp', { layer, metadata: { projectPath: 'p' } })
      // Entries next to each other in a thread gain by each other.
      for (const text of ['harbour', 'anchor']) await world.store(text, { metadata: { projectPath: 'p' } })
      const project = await world.store('a lamp', { metadata: { projectPath: 'p', weight: 1 } })
      for (const mode of MODES) {
        const told = await ids('lamp', { mode, project: 'p' })
        expect([told.at(-1), told.toSorted((a, b) => a - b)]).toEqual([
          away,
          [away, everywhere, homeless, own, project],
        ])
        const pages = []
        for (const offset of [0, 2, 4]) pages.push(...(await ids('lamp', { mode, project: 'p', limit: 2, offset })))
        expect(pages).toEqual(told)
        expect((await ids('lamp', { mode }))[0]).toBe(away)
        expect((await ids('lamp', { mode, project: 'q' }))[0]).toBe(away)
      }
    })

    it('finds what expires up to the millisecond before it does, and not in the one in which it does', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      const brief = await world.store('the red harbour', { layer: 1, ttl: 60 })
      const metadata = { expires_at: new Date(ground.clock.ms + 60_000).toISOString() }
      const dated = await world.store('another red harbour', { metadata })
      const kept = await world.store('a red harbour for good')
      const found = () =>
        Promise.all(MODES.map(async (mode) => (await ids('red harbour', { mode })).sort((a, b) => a - b)))
      ground.clock.advance(60_000 - 2_000 - 1)
      expect(await found()).toEqual(MODES.map(() => [brief, dated, kept]))
      ground.clock.advance(1)
      expect(await found()).toEqual(MODES.map(() => [kept]))
      expect((await world.page('red harbour')).total).toBe(1)
    })

    it('[FABRIC-62, FABRIC-156] finds nothing that is unrelated to the query at the default threshold, in every mode', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      world.embedder.means('finance', 0.34, Math.sqrt(1 - 0.34 ** 2), 0)
      await world.store('the red harbour')
      await world.store('taxes are due in May')
      await world.crowd('p', 1_000)
      for (const query of ['completely unrelated question', 'finance', '!?', '…'])
        for (const mode of MODES) expect((await world.page(query, { mode })).total).toBe(0)
    })

    it('[FABRIC-56] orders as the searches do, with weight for near-ties and the newer first for equals, and leaves the similarity unchanged', async () => {
      world.embedder.means('lamp', 1, 0, 0)
      const heavy = await world.store('a lamp', { metadata: { weight: 5, projectPath: 'a' } })
      const plain = await world.store('a lamp', { metadata: { projectPath: 'b' } })
      const light = await world.store('a lamp', { metadata: { weight: 1, projectPath: 'c' } })
      for (const mode of MODES) {
        const { results } = await world.page('lamp', { mode, threshold: 0 })
        expect([mode, results.map(({ id }) => id)]).toEqual([mode, [heavy, plain, light]])
        expect(new Set(results.map(({ similarity }) => similarity.toFixed(9))).size).toBe(1)
      }
      // Equal in everything: the newer first.
      const newer = await world.store('a lamp', { metadata: { projectPath: 'd' } })
      expect(await ids('lamp', { mode: 'keyword' })).toEqual([heavy, newer, plain, light])
    })

    it('orders hybrid by words and meaning together, computed by hand, times weight, once', async () => {
      const query = 'red lamp'
      world.embedder.means(query, 1, 0, 0)
      for (const i of range(24)) {
        const near = 0.95 - 0.03 * ((i * 7) % 24)
        world.embedder.means(`place ${i} `, near, Math.sqrt(1 - near ** 2), 0)
        const said = ['a lamp', 'it is red', 'a lamp so red', 'nothing of it'][i % 4]
        await world.store(`place ${i} has ${said} ${'and more '.repeat((i * 5) % 17)}`, {
          metadata: { weight: 1 + (i % 5) },
        })
      }
      const filter = recallFilter({ kinds: [], layers: [], tags: [], project: null })
      const { hits: words } = await world.words(ada, { query, filter, kept: RETRIEVER_LIMIT })
      const { hits: near } = await world.semantic(ada, query, filter, 200)
      expect([words.length, near.length]).toEqual([18, 24])
      const lowest = Math.min(...near.map(({ cosine }) => cosine))
      const keyed = near.map(({ id, cosine, length, weight }) => {
        const word = words.find((hit) => hit.id === id)
        const place = (cosine - lowest) / (1 - lowest)
        const fused = (word?.score ?? 0) + 90 * Math.min(1, length / 150) * place ** 2
        const similarity = 1 - 0.3 ** ((cosine + (word?.share ?? 0)) / 0.7)
        return { id, similarity, key: fused * (1 + 0.1 * (weight - 3)) }
      })
      keyed.sort((a, b) => b.key - a.key || b.id - a.id)
      const { results } = await world.page(query, { mode: 'hybrid', threshold: 0, limit: 100 })
      expect(results.map(({ id, similarity }) => [id, similarity])).toEqual(
        keyed.map(({ id, similarity }) => [id, similarity]),
      )
    })

    it('finds a memory by its alias, and others only if they repeat the alias', async () => {
      world.embedder.means('nothing is near', 0, 0, 1)
      world.embedder.means('old scripts restart what hangs on k8s', 0, 1, 0)
      world.embedder.means('scripts restart hangs k8s', 0, 1, 0)
      const metadata = { aliases: ['k8s', 'container platform'] }
      const cluster = await world.store('Everything is deployed with charts', { metadata })
      const holds = await world.store('old scripts restart what hangs on k8s')
      await world.store('herons nest early')
      const query = 'what do we say to our newest colleagues of the story behind k8s in this company'
      for (const mode of ['hybrid', 'keyword'] as const) {
        const found = await world.page(query, { mode })
        expect([mode, found.results.map(({ id }) => id)]).toEqual([mode, [cluster]])
        expect(found.results[0]?.similarity).toBeGreaterThan(0.7)
        expect((await world.page(query, { mode, threshold: 0 })).results.map(({ id }) => id)).toContain(cluster)
        expect(await ids('scripts restart hangs k8s', { mode })).toEqual(expect.arrayContaining([cluster, holds]))
        expect(await ids('who owns the container platform', { mode })).toEqual([cluster])
        // Half of a name matches no alias.
        expect(await ids('k8s and the platform', { mode })).toEqual([cluster])
      }
    })

    it('[FABRIC-157] returns layer 3 together with layer 2, each memory once, and with layer 3 alone only the named project', async () => {
      world.embedder.means('lamp', 1, 0, 0)
      const project = await world.store('a lamp for the hall', { metadata: { projectPath: 'p' } })
      const own = await world.store('a lamp', { layer: 3, metadata: { projectPath: 'p' } })
      const other = await world.store('a lamp', { layer: 3, metadata: { projectPath: 'q' } })
      const working = await world.store('a lamp', { layer: 1, metadata: { projectPath: 'p' } })
      const foreign = await world.store('a lamp', { metadata: { projectPath: 'q' } })
      const sorted = async (given: Parameters<(typeof world)['page']>[1]) =>
        (await ids('lamp', { limit: 100, ...given })).sort((a, b) => a - b)
      for (const mode of MODES) {
        const threshold = mode === 'keyword' ? 0.7 : 0
        expect(await sorted({ mode, threshold })).toEqual([project, own, other, working, foreign])
        expect(await sorted({ mode, threshold, project: 'p' })).toEqual([project, own, other, working])
        expect(await sorted({ mode, threshold, project: 'p', layers: [3] })).toEqual([own])
        expect(await sorted({ mode, threshold, project: 'p', layers: [1, 2] })).toEqual([project, working])
        expect(await sorted({ mode, threshold, layers: [3] })).toEqual([own, other])
        expect(await sorted({ mode, threshold, project: 'none' })).toEqual([own, other])
      }
    })

    it('[FABRIC-63, FABRIC-158] fills every page of a selective filter, counts truly, and pages without duplicates or gaps', async () => {
      world.embedder.means('lamp', 1, 0, 0)
      const wanted: number[] = []
      for (const i of range(60)) {
        const id = await world.store(`lamp number ${i}`, {
          ...{ type: i % 3 === 0 ? 'bug_fix' : 'decision' },
          metadata: { tags: [`t${i % 2}`], weight: 1 + (i % 5), projectPath: 'p' },
        })
        if (i % 6 === 0) wanted.push(id)
      }
      for (const mode of MODES) {
        const given = { mode, threshold: 0, tags: ['t0', 'no such'], kinds: ['bug_fix'], project: 'p' } as const
        const pages = []
        for (const offset of [0, 3, 6, 9]) pages.push(await world.page('lamp', { ...given, limit: 3, offset }))
        expect(pages.map(({ total, capped }) => [total, capped])).toEqual(Array(4).fill([10, false]))
        const all = pages.flatMap(({ results }) => results.map(({ id }) => id))
        expect(all.toSorted((a, b) => a - b)).toEqual(wanted)
        expect(await ids('lamp', { ...given, limit: 10 })).toEqual(all)
        expect(await world.page('lamp', { ...given, offset: 50 })).toMatchObject({ results: [], total: 10 })
      }
    })

    it('[FABRIC-65] recalls by words without vectors and reports it; semantic mode is unavailable', async () => {
      const id = await world.store('the red harbour')
      world.embedder.broken = true
      expect(await world.page('harbour')).toMatchObject({
        results: [{ id, matched: 'keyword' }],
        degraded: true,
        warnings: ['Semantic search failed; results match words only'],
      })
      expect(await world.page('harbour', { mode: 'keyword' })).toMatchObject({
        total: 1,
        degraded: false,
        warnings: [],
      })
      await expect(world.page('harbour', { mode: 'semantic' })).rejects.toMatchObject({ code: 'unavailable' })
    })

    it('[FABRIC-35, FABRIC-161, FABRIC-163] writes nothing for a recall: being shown is not an access', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      const id = await world.store('the red harbour')
      const seen = () => rows(sql`SELECT version, updated_at, accessed_at, access_count FROM entries WHERE id = ${id}`)
      const before = await seen()
      const logs = () => rows(sql`SELECT seq FROM changes WHERE org = ${ada.org}`)
      const changes = await logs()
      ground.clock.advance(5_000)
      for (const mode of MODES) expect((await world.page('red harbour', { mode })).results).toHaveLength(1)
      expect([await seen(), await logs()]).toEqual([before, changes])
      expect(await rows(sql`SELECT seq FROM audit WHERE org = ${ada.org} AND action = 'context_recall'`)).toEqual([])
    })

    it('[FABRIC-162] recalls a changed memory by its new text only, and a deleted or archived one not at all', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      world.embedder.means('mountain', 0, 1, 0)
      const id = await world.store('the red harbour', { layer: 3 })
      await world.service.update(ada, null, id, { content: 'a high mountain' })
      for (const mode of MODES) {
        expect(await ids('harbour', { mode })).toEqual([])
        expect(await ids('mountain', { mode })).toEqual([id])
      }
      await rows(sql`UPDATE entries SET archived = 1 WHERE id = ${id}`)
      for (const mode of MODES) expect(await ids('mountain', { mode })).toEqual([])
      await world.service.update(ada, null, id, { pinned: true })
      for (const mode of MODES) expect(await ids('mountain', { mode })).toEqual([id])
      await world.service.delete(ada, null, id)
      for (const mode of MODES) expect(await ids('mountain', { mode })).toEqual([])
      for (const table of ['entry_vectors', 'entry_tags'])
        expect(await rows(sql`SELECT entry_id FROM ${sql.raw(table)} WHERE entry_id = ${id}`)).toEqual([])
    })

    it('promotes with the vectors that are there, also when no new ones can be made', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      const id = await world.store('the red harbour')
      const { embedded } = await world.cost(() => world.service.promote(ada, null, id, 3))
      expect(embedded).toBe(0)
      expect(await ids('harbour', { mode: 'semantic', layers: [3] })).toEqual([id])
      expect(await ids('harbour', { mode: 'keyword', project: 'elsewhere' })).toEqual([id])
    })

    it('[FABRIC-153] never recalls layers 1 and 2 of another project, or anything of a project that is closed to the key', async () => {
      const narrowed = { ...ada, projects: ['p'] }
      world.embedder.means('lamp', 1, 0, 0)
      const here = await world.store('a lamp', { metadata: { projectPath: 'p' } })
      await world.store('a lamp', { metadata: { projectPath: 'q' } })
      const semantic = await world.store('a lamp', { layer: 3, metadata: { projectPath: 'p' } })
      await world.store('a lamp', { layer: 3, metadata: { projectPath: 'q' } })
      const none = await world.store('a lamp')
      for (const mode of MODES) {
        const all = await ids('lamp', { mode, by: narrowed })
        expect(all.sort((a, b) => a - b)).toEqual([here, semantic, none])
        expect((await ids('lamp', { mode, by: narrowed, project: 'p' })).sort((a, b) => a - b)).toEqual([
          here,
          semantic,
        ])
        for (const by of [freshPrincipal(), { ...ada, projects: ['none'] }])
          expect((await ids('lamp', { mode, by })).filter((id) => id !== none)).toEqual([])
      }
    })

    it('[FABRIC-173] recalls in three round trips in a small project of a large organization with more memories than are compared one by one', async () => {
      // Another project holds five times as many that are as near, and what filters admit is more than is compared one by one.
      world = recallWorld(ground, ada, { exact: 250 })
      world.embedder.means('noise', 0, 0, 0, 1)
      await world.crowd('q', 1_500, { tags: ['x'] })
      await world.crowd('p', 1_000)
      await world.crowd('p', 300, { tags: ['x'] })
      await world.settle()
      await ids('noise', { project: 'p' })
      for (const mode of ['semantic', 'hybrid'] as const)
        for (const filter of [
          { project: 'p' },
          { project: 'p', tags: ['x'] },
          { project: 'p', layers: [2] as const },
        ]) {
          const { roundTrips } = await world.cost(async () => {
            const { results, total, capped } = await world.page('noise', { mode, threshold: 0, ...filter })
            expect([results.length, total, capped]).toEqual([10, 200, true])
            for (const { memory } of results) expect(memory.project).toBe('p')
          })
          expect([mode, filter, roundTrips <= 3]).toEqual([mode, filter, true])
        }
    })

    it('reads the words of a memory found by meaning only if they decide whether it passes, and of shown ones', async () => {
      const asked: number[] = []
      const standing: typeof ground.fullText.entryTexts = (scope, units, ids) => {
        asked.push(...ids)
        return ground.fullText.entryTexts(scope, units, ids)
      }
      world = recallWorld({ ...ground, fullText: { ...ground.fullText, entryTexts: standing } }, ada)
      world.embedder.means('crowd', 1, 0, 0)
      world.embedder.means('quay', 1, 0, 0)
      world.embedder.means('mole', 0.5, 0, Math.sqrt(0.75))
      const mole = await world.store('a mole')
      const quays: number[] = []
      for (const i of range(15)) quays.push(await world.store(`a quay ${i}`))
      await world.crowd('p', 250)
      await world.settle()
      const { results, total } = await world.page('crowd', { limit: 5 })
      const told = results.map(({ id, matched }) => [id, matched])
      expect([told, total]).toEqual([told.map(([id]) => [id, 'semantic']), 15 + 250])
      expect(quays).toEqual(expect.arrayContaining(results.map(({ id }) => id)))
      expect([asked.includes(mole), asked.filter((id) => quays.includes(id)).sort((a, b) => a - b)]).toEqual([
        true,
        results.map(({ id }) => id).sort((a, b) => a - b),
      ])
    })

    it('[FABRIC-173] recalls in three round trips and one call of the embedder, and reads no more rows when other projects grow', async () => {
      world.embedder.means('zeppelin', 1, 0, 0)
      const id = await world.store('the zeppelin lands', { metadata: { projectPath: 'p', tags: ['x'] } })
      const listed = { layer: 2, kinds: null, tags: ['x'], limit: 10, offset: 0 } as const
      const kinds = ['decision'] as const
      const lists = async () => [
        await world.cost(() => world.memories.list(ada, 'p', { ...listed, tags: [], kinds }, 1_000)),
        await world.cost(() => world.memories.list(ada, 'p', { ...listed, kinds }, 1_000)),
        await world.cost(() => world.memories.count(ada, 'p')),
      ]
      const costs = async () => {
        const all = []
        for (const mode of MODES)
          for (const tags of [[], ['x']])
            all.push(
              await world.cost(async () => expect(await ids('zeppelin', { mode, project: 'p', tags })).toEqual([id])),
            )
        all.push(
          await world.cost(async () =>
            expect(await world.memories.list(ada, 'p', listed, 1_000)).toMatchObject({ total: 1 }),
          ),
        )
        return all
      }
      // Updates the index.
      await ids('zeppelin')
      const small = await costs()
      for (const { roundTrips, embedded } of small) {
        expect(roundTrips).toBeLessThanOrEqual(3)
        expect(embedded).toBeLessThanOrEqual(1)
      }
      await world.crowd('q', 1_000, { tags: ['x'] })
      await world.settle()
      const large = await costs()
      // A query of few words is two searches by words: for them, and for compounds with them.
      for (const [i, { rowsRead }] of large.entries())
        expect(rowsRead).toBeLessThanOrEqual((small[i]?.rowsRead ?? 0) + 2 * 5)
      // Also if another project has all the most similar ones: the ones here are found after them, in as many round trips.
      world.embedder.means('noise', 0.6, 0, 0, 0.8)
      const behind = { mode: 'semantic', threshold: 0, project: 'p' } as const
      const { roundTrips } = await world.cost(async () => expect(await ids('noise', behind)).toEqual([id]))
      expect(roundTrips).toBeLessThanOrEqual(3)
      // Reads of lists do not grow with their own project either.
      const before = await lists()
      await world.crowd('p', 1_000)
      const after = await lists()
      expect(after.map(({ roundTrips }) => roundTrips)).toEqual([1, 1, 1])
      for (const [i, { rowsRead }] of after.entries())
        expect(rowsRead).toBeLessThanOrEqual((before[i]?.rowsRead ?? 0) + 5)
    })

    if (!isLarge) return

    it('[FABRIC-155, FABRIC-156, FABRIC-157, FABRIC-158] returns the same scores, unrelated queries, layers and pages among ten, a thousand and ten thousand memories', async () => {
      const inProject = (more: object = {}) => ({ metadata: { projectPath: 'p', ...more } })
      world.embedder.means('zeppelin', 1, 0, 0)
      world.embedder.means('finance', 0.34, Math.sqrt(1 - 0.34 ** 2), 0)
      world.embedder.means('kept', 0, 1, 0)
      const best = await world.store('the zeppelin lands at the red harbour', inProject({ tags: ['air'] }))
      const good = await world.store('the zeppelin lands', inProject({ tags: ['air'] }))
      const far = await world.store('an airship, which is a zeppelin', { layer: 3, metadata: { projectPath: 'q' } })
      await world.store('taxes are finance', inProject())
      const tagged: number[] = []
      for (const i of range(7)) tagged.push(await world.store(`kept word ${i}`, inProject({ tags: ['rare'] })))
      for (const [size, more] of Object.entries({ '10': 10, '1,000': 990, '10,000': 9_000 })) {
        // A tenth of the added entries belongs to the organization.
        await world.crowd('p', more * 0.9)
        await world.crowd('q', more * 0.1, { layer: 3 })
        await world.settle()
        const { results } = await world.page('zeppelin red harbour', { mode: 'keyword', threshold: 0, project: 'p' })
        expect([size, results[0]?.id, results.length]).toEqual([size, best, 3])
        const [first, second] = results.map(({ similarity }) => similarity) as [number, number]
        expect(first).toBeGreaterThan(second)
        for (const mode of MODES) {
          // A word of few entries finds them, layer 3 together with layer 2, each once; by meaning too.
          const found = await world.page('zeppelin', { mode, project: 'p' })
          expect([size, mode, found.total, found.capped]).toEqual([size, mode, 3, false])
          expect(found.results.map(({ id }) => id).sort((a, b) => a - b)).toEqual([best, good, far])
          for (const query of ['completely unrelated question', '!?'])
            expect([size, mode, (await world.page(query, { mode, project: 'p' })).total]).toEqual([size, mode, 0])
        }
        // A word of one memory finds it.
        const { results: only } = await world.page('harbour', { mode: 'keyword', project: 'p' })
        expect([size, only.map(({ id }) => id)]).toEqual([size, [best]])
        // A selective filter starves no page.
        const selective = { threshold: 0, tags: ['rare'], project: 'p', limit: 3 } as const
        for (const mode of MODES) {
          const pages = []
          for (const offset of [0, 3, 6]) pages.push(await world.page('kept word', { ...selective, mode, offset }))
          expect([size, mode, ...pages.map(({ total }) => total)]).toEqual([size, mode, 7, 7, 7])
          expect(pages.flatMap(({ results: page }) => page.map(({ id }) => id)).sort((a, b) => a - b)).toEqual(tagged)
        }
      }
    })

    it('[FABRIC-63] limits each retriever to 200 memories, in every mode, and reports if there were more', async () => {
      world.embedder.means('lamp', 1, 0, 0)
      await Promise.all(range(101).map((i) => world.store(`lamp ${i}`)))
      await Promise.all(range(101).map((i) => world.store(`another lamp ${i}`)))
      for (const mode of MODES) {
        const { total, capped, results } = await world.page('lamp', { mode, threshold: 0, limit: 100, offset: 150 })
        // The retrievers need not return the same ones.
        const kept = mode === 'hybrid' ? total : 200
        expect([mode, total, capped, results.length]).toEqual([mode, kept, true, kept - 150])
        expect(kept).toBeGreaterThanOrEqual(200)
      }
      expect(await world.page('another lamp', { mode: 'keyword', threshold: 0.9999 })).toMatchObject({
        total: 101,
        capped: false,
      })
    })
  })
}
