import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Layer } from '../../src/domain/entry/entry'
import type { Metadata } from '../../src/domain/entry/metadata'
import { applyUpdates } from '../../src/domain/entry/update'
import type { Caller } from '../../src/domain/identity/scope'
import { type RecallFilter, recallFilter } from '../../src/domain/recall/recall-filter'
import { RETRIEVER_LIMIT } from '../../src/domain/recall/similarity'
import type { Analyzer } from '../../src/domain/search/analysis'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import { createRecallWords } from '../../src/services/searching/memories/recall-words'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface Made {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

/** Weight of a word by the number of memories with it and in all. */
const weight = (memories: number, holding: number): number => Math.log((memories + 1_000) / (holding + 1)) ** 2

/** How memories are found by words, with scores that mean the same everywhere (fabric contract §4). */
export function recallWordsContract(name: string, make: () => Made): void {
  describe(`${name} recalls by words`, () => {
    let made: Made
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })

    const save = async (text: string, metadata: Metadata = {}, layer: Layer = 2, draft: Partial<EntryDraft> = {}) => {
      const memory = { layer, life: { pinned: false, lasts: null } }
      const [saved] = await made.entries.save(ada, [await entryOf(ada, { text, metadata, memory, ...draft })], {
        dedupe: false,
      })
      return saved?.id as number
    }
    const recall = async (query: string, threshold = 0.7, filter: Partial<RecallFilter> = {}) => {
      const given = recallFilter({ kinds: [], layers: [], tags: [], project: null, ...filter })
      const recalled = await createRecallWords({ ...made })(ada, {
        query,
        filter: given,
        kept: RETRIEVER_LIMIT,
      })
      return { ...recalled, hits: recalled.hits.filter(({ similarity }) => similarity >= threshold) }
    }
    const found = async (...given: Parameters<typeof recall>) => (await recall(...given)).hits.map(({ id }) => id)

    it('looks into title, content, code block and file path, not into type, tags or other metadata', async () => {
      const title = await save('x', { title: 'zeppelin' })
      const body = await save('a zeppelin lands')
      const code = await save('x', { codeBlock: { code: 'function zeppelin() {}', language: 'ts' } })
      const path = await save('x', { fileContext: { path: 'src/zeppelin/dock.ts' } })
      await save('x', { note: 'zeppelin', kind: 'decision' }, 2, { tags: ['zeppelin'] })
      await save('x', { codeBlock: 'zeppelin', fileContext: ['zeppelin'] })
      expect((await found('zeppelin')).sort()).toEqual([title, body, code, path].sort())
      expect(await found('decision')).toEqual([])
    })

    it('counts no word of the creation day or the agent as one of the memory', async () => {
      const year = String(new Date(made.clock.now()).getUTCFullYear())
      const near = await save('a harbour', { agent_name: 'lighthouse' })
      const all = await save('a harbour', {
        title: 'lighthouse',
        codeBlock: { code: `since(${year})`, language: 'ts' },
      })
      const { hits } = await recall(`harbour lighthouse ${year}`, 0)
      expect(hits.map(({ id }) => id)).toEqual([all, near])
      const [harbour, rare] = [weight(2, 2), weight(2, 1)]
      expect(hits[0]?.share).toBe(1)
      expect(hits[1]?.share).toBeCloseTo(harbour / (harbour + 2 * rare), 9)
      await save('nothing of it', { agent_name: year })
      expect(await found(year)).toEqual([all])
    })

    it('follows a change of code block, title and layer', async () => {
      const id = await save('x', { codeBlock: { code: 'alpha()', language: 'ts' } })
      const [before] = await made.entries.read(ada, [id])
      const change = await applyUpdates(ada, before as NonNullable<typeof before>, [
        { id, metadata: { title: 'beta' } },
      ])
      const indexed = { ...(change.indexed as NonNullable<typeof change.indexed>), layer: 3 as const }
      await made.entries.change(ada, [{ ...change, life: { layer: 3 }, indexed }])
      expect([await found('alpha'), await found('beta')]).toEqual([[], [id]])
      expect(await found('beta', 0.7, { project: 'elsewhere' })).toEqual([id])
    })

    it('[FABRIC-58, FABRIC-155] weighs the words of a query that a memory holds by their rarity', async () => {
      const all = await save('the red lamp of the harbour')
      const two = await save('the red harbour')
      const one = await save('a lamp')
      await save('nothing of it')
      const { hits } = await recall('Where is the red lamp of the harbour?', 0)
      expect(hits.map(({ id }) => id)).toEqual([all, two, one])
      // Each of the three words is in two of four memories.
      expect(hits.map(({ share }) => share)).toEqual([1, 2 / 3, 1 / 3].map((share) => expect.closeTo(share, 9)))
      for (const { share, similarity } of hits) expect(similarity).toBe(share ** 0.2)
      // A rare word counts more, in a large store hardly less: a third of the words is enough, and a common one alone is not.
      await save('a beacon')
      for (const i of Array.from({ length: 40 }, (_, i) => i)) await save(`a tower ${i}`)
      const [tower, beacon] = [weight(45, 40), weight(45, 1)]
      const { hits: found } = await recall('tower beacon', 0)
      expect(found[0]?.share).toBeCloseTo(beacon / (tower + beacon), 9)
      expect(found[1]?.share).toBeCloseTo(tower / (tower + beacon), 9)
      expect([(await recall('!?', 0)).hits, (await recall('submarine', 0)).hits]).toEqual([[], []])
    })

    it('counts units as they are meant: an adjacency, a quoted phrase and a pair of characters each as one', async () => {
      const near = await save('full-text search')
      const apart = await save('the text is full of search')
      const { hits } = await recall('full-text search', 0)
      const by = new Map(hits.map(({ id, share }) => [id, share]))
      expect([by.get(near), by.get(apart)]).toEqual([1, expect.closeTo(0.5, 9)])
      expect(await found('"text search"')).toEqual([near])
      const han = await save('漢字検索')
      expect(await found('漢字')).toEqual([han])
    })

    it('finds a single character of a query at the start, inside and at the end of a run, and counts it as often', async () => {
      const run = await Promise.all(['金額の確認', '返金処理', '返金', '金'].map((text) => save(text)))
      const other = await save('a harbour')
      const { hits } = await recall('金 harbour', 0)
      expect(hits.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([...run, other])
      const [character, harbour] = [weight(5, 4), weight(5, 1)]
      const by = new Map(hits.map(({ id, share }) => [id, share]))
      for (const id of run) expect(by.get(id)).toBeCloseTo(character / (character + harbour), 9)
      expect(by.get(other)).toBeCloseTo(harbour / (character + harbour), 9)
    })

    it('finds words far after the start of a text', async () => {
      const id = await save(`${'filler words stand here '.repeat(2_000)} zeppelin`) // prose-ignore
      expect((await recall('zeppelin')).hits).toMatchObject([{ id, share: 1 }])
      // Each of several units is found in its place, also in the code.
      const code = `${'let filler = 1\n'.repeat(1_000)} function dirigible() {}`
      const coded = await save('an airship', { codeBlock: { code, language: 'ts' } })
      const { hits } = await recall('airship dirigible "stand here zeppelin"', 0) // prose-ignore
      const by = new Map(hits.map(({ id, share }) => [id, share]))
      expect(by.get(coded)).toBeCloseTo(2 / 3, 9)
      expect(by.get(id)).toBeCloseTo(1 / 3, 9)
    })

    it('weighs words by the memories of the requested project and layers', async () => {
      const told = { p: { 1: ['beacon'], 2: ['tower', 'beacon', 'beacon'], 3: ['tower', 'tower', 'beacon'] } }
      for (const [layer, texts] of Object.entries(told.p))
        for (const text of texts) await save(`a ${text}`, { project: 'p' }, Number(layer) as Layer)
      await save('a tower', { project: 'q' }, 2)
      await save('a beacon', { project: 'q' }, 3)
      const asked: [Partial<RecallFilter>, memories: number, tower: number, beacon: number][] = [
        [{ project: 'p' }, 8, 3, 5],
        [{ project: 'p', layers: [1] }, 1, 0, 1],
        [{ project: 'p', layers: [2] }, 3, 1, 2],
        [{ project: 'p', layers: [3] }, 3, 2, 1],
        [{ project: 'p', layers: [1, 2] }, 4, 1, 3],
        [{ project: 'p', layers: [1, 3] }, 5, 2, 3],
        [{ project: 'p', layers: [2, 3] }, 7, 3, 4],
        [{ layers: [2] }, 4, 2, 2],
        [{ layers: [1, 2, 3] }, 9, 4, 5],
        [{}, 9, 4, 5],
      ]
      for (const [filter, memories, tower, beacon] of asked) {
        const [one, other] = [weight(memories, beacon), weight(memories, tower)]
        const shares = (await recall('tower beacon', 0, filter)).hits.map(({ share }) => share)
        expect([filter, Math.max(...shares), Math.min(...shares)]).toEqual([
          filter,
          expect.closeTo(tower === 0 ? one / (one + other) : Math.max(one, other) / (one + other), 9),
          expect.closeTo(tower === 0 ? one / (one + other) : Math.min(one, other) / (one + other), 9),
        ])
      }
    })

    it('admits by layer, kind, tag and project before it ranks, and lets layer 3 through a project', async () => {
      const here = await save('a lamp', { project: 'p', kind: 'decision' }, 2, { tags: ['x'] })
      const there = await save('a lamp', { project: 'q' }, 2)
      const nowhere = await save('a lamp', {}, 2)
      const working = await save('a lamp', { project: 'p' }, 1)
      const semantic = await save('a lamp', { project: 'q' }, 3)
      const own = await save('a lamp', { project: 'p' }, 3)
      const sorted = async (filter: Partial<RecallFilter>) => (await found('lamp', 0.7, filter)).sort((a, b) => a - b)
      expect(await sorted({})).toEqual([here, there, nowhere, working, semantic, own])
      expect(await sorted({ project: 'p' })).toEqual([here, working, semantic, own])
      expect(await sorted({ project: 'p', layers: [1, 2] })).toEqual([here, working])
      expect(await sorted({ project: 'p', layers: [3] })).toEqual([own])
      expect(await sorted({ project: 'p', layers: [2, 3] })).toEqual([here, semantic, own])
      expect(await sorted({ layers: [3] })).toEqual([semantic, own])
      expect(await sorted({ project: 'p', tags: ['x', 'y'] })).toEqual([here])
      expect(await sorted({ kinds: ['decision', 'rule'] })).toEqual([here])
    })

    it('orders by weight where words are equal, without a word of it in the similarity', async () => {
      // Neighbors in a thread share their scores, so each is in its own thread.
      const light = await save('a lamp', { weight: 1 }, 2, { threadId: 'a' })
      const heavy = await save('a lamp', { weight: 5 }, 2, { threadId: 'b' })
      const plain = await save('a lamp', {}, 2, { threadId: 'c' })
      const { hits } = await recall('lamp')
      expect(hits.map(({ id }) => id)).toEqual([heavy, plain, light])
      expect(new Set(hits.map(({ similarity }) => similarity.toFixed(12))).size).toBe(1)
    })

    it('returns 200 and reports the ratios of others if there may be more', async () => {
      const drafts = await Promise.all(Array.from({ length: 201 }, (_, i) => entryOf(ada, { text: `a lamp ${i}` })))
      await made.entries.save(ada, drafts.slice(0, 200), { dedupe: false })
      const all = await recall('lamp')
      expect([all.hits.length, all.cut]).toEqual([200, false])
      await made.entries.save(ada, drafts.slice(200), { dedupe: false })
      const long = await save(`${'and other things '.repeat(800)} lamp`)
      const other = await save('a window')
      const cut = await recall('lamp')
      expect([cut.hits.length, cut.cut]).toEqual([200, true])
      expect(cut.hits.some(({ id }) => id === long)).toBe(false)
      expect([...(await cut.sharesOf([long, other]))]).toEqual([
        [long, 1],
        [other, 0],
      ])
      // Those that hold all of the query stay, however many hold a word of it.
      const both = await save(`a lamp at the window ${'and other things '.repeat(80)}`)
      expect((await recall('lamp window', 0)).hits[0]?.id).toBe(both)
    })

    it('accepts 64 units, including phrases and adjacencies, under every filter and for a narrowed owner', async () => {
      const words = Array.from({ length: 50 }, (_, i) => `unit${i}`)
      const query = `${words.join(' ')} full-text v1.2.3 "quoted phrase" a-b c.d e_f "one two three" g/h ${'x'.repeat(300)}`
      const own = { ...ada, projects: ['p', 'q'], owner: 'bob' }
      const draft = { text: query, tags: ['t'], metadata: { project: 'p', kind: 'decision', audience: 'private' } }
      const [saved] = await made.entries.save(own, [await entryOf(own, draft)], { dedupe: false })
      const filter = recallFilter({ kinds: ['decision'], layers: [2], tags: ['t'], project: 'p' })
      const { hits } = await createRecallWords({ ...made })(own, { query, filter, kept: RETRIEVER_LIMIT })
      expect(hits).toMatchObject([{ id: saved?.id, share: 1 }])
    })
  })
}
