import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Layer } from '../../src/domain/entry/entry'
import type { Metadata } from '../../src/domain/entry/metadata'
import type { Caller } from '../../src/domain/identity/scope'
import { type RecallFilter, recallFilter } from '../../src/domain/recall/filter'
import type { Analyzer } from '../../src/domain/search/analysis'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import { createRecallWords, type WordRequest } from '../../src/services/recall/recall-words'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface Made {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

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
    const recall = (
      query: string,
      threshold = 0.7,
      { first = 'most', ...filter }: Partial<RecallFilter> & Pick<WordRequest, 'first'> = {},
    ) =>
      createRecallWords(made)(ada, {
        ...{ query, threshold, first },
        filter: recallFilter({ kinds: [], layers: [], tags: [], project: null, ...filter }),
      })
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

    it('takes no word of the day a memory was made or of its agent for one of the memory', async () => {
      const year = String(new Date(made.clock.now()).getUTCFullYear())
      const near = await save('a harbour', { agent_name: 'lighthouse' })
      const all = await save('a harbour', {
        title: 'lighthouse',
        codeBlock: { code: `since(${year})`, language: 'ts' },
      })
      const { hits } = await recall(`harbour lighthouse ${year}`, 0)
      expect(hits.map(({ id }) => id)).toEqual([all, near])
      const [first, second] = hits.map(({ similarity }) => similarity) as [number, number]
      expect([first > 0.8, second > 0.8 / 3, second < 0.8 / 3 + 0.2]).toEqual([true, true, true])
      const alone = await recall(year)
      await save('nothing of it', { agent_name: year })
      expect(await found(year)).toEqual([all])
      expect((await recall(year)).hits[0]?.similarity).toBeGreaterThanOrEqual(alone.hits[0]?.similarity ?? 1)
    })

    it('follows a change of code block, title and layer', async () => {
      const id = await save('x', { codeBlock: { code: 'alpha()', language: 'ts' } })
      const [before] = await made.entries.read(ada, [id])
      const indexed = { ...(before as NonNullable<typeof before>), title: 'beta', metadata: null, layer: 3 as const }
      await made.entries.change(ada, [{ id, version: 1, steps: 1, life: { layer: 3 }, indexed }])
      expect([await found('alpha'), await found('beta')]).toEqual([[], [id]])
      expect(await found('beta', 0.7, { project: 'elsewhere' })).toEqual([id])
    })

    it('gives a memory with all words more than 0.8, one with some its share, and none nothing', async () => {
      const all = await save('the red lamp of the harbour')
      const two = await save('the red harbour')
      const one = await save('a lamp')
      await save('nothing of it')
      const { hits } = await recall('red lamp of the harbour', 0)
      expect(hits.map(({ id }) => id)).toEqual([all, two, one])
      const [first, second, third] = hits.map(({ similarity }) => similarity) as [number, number, number]
      expect([first > 0.8, first < 1]).toEqual([true, true])
      expect([second > (0.8 * 2) / 3, second < (0.8 * 2) / 3 + 0.2]).toEqual([true, true])
      expect([third > 0.8 / 3, third < 0.8 / 3 + 0.2]).toEqual([true, true])
      expect(await found('red lamp of the harbour')).toEqual(expect.arrayContaining([all]))
      expect(await found('red lamp of the harbour', 0.9)).toEqual([all])
      expect([await found('!?'), await found('submarine')]).toEqual([[], []])
    })

    it('counts units as they are meant: an adjacency, a quoted phrase and a pair of characters each as one', async () => {
      const near = await save('full-text search')
      const apart = await save('the text is full of search')
      const { hits } = await recall('full-text search', 0)
      const by = new Map(hits.map(({ id, similarity }) => [id, similarity]))
      expect(by.get(near)).toBeGreaterThan(0.8)
      expect(by.get(apart)).toBeLessThan(0.6)
      expect(await found('"text search"')).toEqual([near])
      const han = await save('漢字検索')
      expect(await found('漢字')).toEqual([han])
    })

    it('finds what a text holds far behind its beginning', async () => {
      const id = await save(`${'filler words stand here '.repeat(2_000)} zeppelin`)
      const [hit] = (await recall('zeppelin')).hits
      expect([hit?.id, (hit?.similarity ?? 0) > 0.7]).toEqual([id, true])
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
      // Neighbours in a thread share what they earn, so each stands in a thread of its own.
      const light = await save('a lamp', { weight: 1 }, 2, { threadId: 'a' })
      const heavy = await save('a lamp', { weight: 5 }, 2, { threadId: 'b' })
      const plain = await save('a lamp', {}, 2, { threadId: 'c' })
      const { hits } = await recall('lamp')
      expect(hits.map(({ id }) => id)).toEqual([heavy, plain, light])
      expect(new Set(hits.map(({ similarity }) => similarity.toFixed(12))).size).toBe(1)
    })

    it('keeps 200 and says when there were more', async () => {
      const drafts = await Promise.all(Array.from({ length: 201 }, (_, i) => entryOf(ada, { text: `a lamp ${i}` })))
      await made.entries.save(ada, drafts.slice(0, 200), { dedupe: false })
      const all = await recall('lamp')
      expect([all.hits.length, all.cut]).toEqual([200, false])
      await made.entries.save(ada, drafts.slice(200), { dedupe: false })
      const cut = await recall('lamp')
      expect([cut.hits.length, cut.cut]).toEqual([200, true])
      // Those that hold more of the query stay, however many hold a rarer word of it.
      const both = await save(`a lamp at the window ${'and other things '.repeat(80)}`)
      const some = await recall('lamp window', 0)
      expect(some.hits[0]?.id).toBe(both)
      expect((await recall('lamp window', 0.7)).cut).toBe(false)
    })

    it('keeps a short memory with a rare word among hundreds of long ones with all words, where the rarest are kept', async () => {
      const long = `a lamp-window of ${'thing '.repeat(500)}`
      const drafts = await Promise.all(Array.from({ length: 201 }, (_, i) => entryOf(ada, { text: `${long} ${i}` })))
      await made.entries.save(ada, drafts, { dedupe: false })
      const rare = await save('window')
      const apart = await save('window and lamp')
      const kept = async (query: string, first: NonNullable<WordRequest['first']>) => {
        const ids = await found(query, 0, { first })
        return [ids.length, ids.includes(rare), ids.includes(apart)]
      }
      expect(await kept('lamp window', 'most')).toEqual([200, false, true])
      expect(await kept('lamp window', 'rarest')).toEqual([200, true, true])
      // All of its words are no adjacency.
      expect(await kept('lamp-window lamp', 'most')).toEqual([200, false, false])
      expect(await kept('lamp-window lamp', 'rarest')).toEqual([200, false, true])
    })

    it('lets a neighbour among the best 200 lend a memory its share, and the 201st none', async () => {
      const stored = (threadId: string, text: string) => entryOf(ada, { threadId, text })
      const lonely = await save('a lamp at home', {}, 2, { threadId: 'alone' })
      const beside = await save('a lamp at home', {}, 2, { threadId: 'both' })
      const last = await save(`a lamp ${'and other things '.repeat(20)}`, {}, 2, { threadId: 'both' })
      const shorter = await Promise.all(Array.from({ length: 198 }, (_, i) => stored(`${i}`, `lamp ${i}`)))
      const similarities = async () => {
        const { hits, cut } = await recall('lamp', 0)
        const by = new Map(hits.map(({ id, similarity }) => [id, similarity]))
        return { cut, own: by.get(lonely) as number, lent: by.get(beside) as number, kept: by.has(last) }
      }
      await made.entries.save(ada, shorter.slice(0, 197), { dedupe: false })
      const all = await similarities()
      expect([all.cut, all.kept, all.lent > all.own]).toEqual([false, true, true])
      await made.entries.save(ada, shorter.slice(197), { dedupe: false })
      const cut = await similarities()
      expect([cut.cut, cut.kept, cut.lent]).toEqual([true, false, cut.own])
    })

    it('takes 64 units, phrases and adjacencies among them, under every filter and for a narrowed owner', async () => {
      const words = Array.from({ length: 50 }, (_, i) => `unit${i}`)
      const query = `${words.join(' ')} full-text v1.2.3 "quoted phrase" a-b c.d e_f "one two three" g/h ${'x'.repeat(300)}`
      const own = { ...ada, projects: ['p', 'q'], owner: 'bob' }
      const draft = { text: query, tags: ['t'], metadata: { project: 'p', kind: 'decision', audience: 'private' } }
      const [saved] = await made.entries.save(own, [await entryOf(own, draft)], { dedupe: false })
      const filter = recallFilter({ kinds: ['decision'], layers: [2], tags: ['t'], project: 'p' })
      for (const [first, threshold] of [
        ['most', 0],
        ['rarest', 0],
        ['most', 0.7],
        ['rarest', 0.7],
      ] as const) {
        const { hits } = await createRecallWords(made)(own, { query, threshold, first, filter })
        expect([first, threshold, hits.map(({ id }) => id)]).toEqual([first, threshold, [saved?.id]])
      }
    })
  })
}
