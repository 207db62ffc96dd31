import { beforeAll, describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { backend, unique, useSession } from './session'

/** √2 in four decimals: how far a query without any feature is from everything. */
const ORTHOGONAL = Number('1.4142')

/** Search by meaning and hybrid search, over a real connection, with the embedder that needs no model. */
export function meaningContract(connect: Connect): void {
  describe('searching by meaning', () => {
    const s = useSession(connect)
    const thread_id = unique()
    const id: Record<string, number> = {}
    beforeAll(async () => {
      id.login = await s.store('The login page rejects expired authentication tokens', { thread_id, tags: ['bug'] })
      id.bread = await s.store('Sourdough bread needs a mature starter and a hot oven', { thread_id, source: 'agent' })
      id.auth = await s.store('Authenticating users with short-lived tokens', { thread_id, metadata: { n: 1 } })
    })
    const meaning = (query: string, more: Record<string, unknown> = {}) =>
      s.ok('semantic_search_context', { query, thread_id, ...more })
    const both = (query: string, more: Record<string, unknown> = {}) =>
      s.ok('hybrid_search_context', { query, thread_id, ...more })
    const ids = (data: { results: { id: number }[] }) => data.results.map((entry) => entry.id)

    it('[THREADS-121] answers a search by meaning with the documented shape', async () => {
      const data = await meaning('token authentication', { explain_query: true })
      expect(Object.keys(data)).toEqual(['query', 'results', 'count', 'total', 'has_more', 'model', 'stats'])
      expect(data).toMatchObject({ model: 'hashed-features-v1', count: 3, total: 3, has_more: false })
      expect(data.stats).toMatchObject({ filters_applied: 1, embedding_generation_ms: expect.any(Number) })
      expect(data.results[0].scores).toEqual({
        semantic_distance: expect.any(Number),
        semantic_rank: null,
        rerank_score: null,
      })
      expect((await s.fail('semantic_search_context', { query: ' ' })).data.error.code).toBe('invalid_input')
      expect((await s.fail('semantic_search_context', { query: 'x', tags: [' '] })).data).toMatchObject({
        query: 'x',
        model: 'hashed-features-v1',
        results: [],
      })
    })

    it('[THREADS-122] orders by distance, then id, with distances from 0 to 2 in four decimals', async () => {
      const { results } = await meaning('authentication tokens for login')
      const distances = results.map(
        (entry: { scores: { semantic_distance: number } }) => entry.scores.semantic_distance,
      )
      expect(distances).toEqual([...distances].sort((a, b) => a - b))
      for (const distance of distances) {
        expect(distance).toBeGreaterThanOrEqual(0)
        expect(distance).toBeLessThanOrEqual(2)
        expect(Math.round(distance * 10_000) / 10_000).toBe(distance)
      }
      expect(results.at(-1).id).toBe(id.bread)
      const [same] = (await meaning('Sourdough bread needs a mature starter and a hot oven')).results
      expect(same.scores.semantic_distance).toBeLessThan(0.1)
      const symbols = await meaning('!!!')
      expect(
        new Set(
          symbols.results.map((entry: { scores: { semantic_distance: number } }) => entry.scores.semantic_distance),
        ),
      ).toEqual(new Set([ORTHOGONAL]))
      expect(ids(symbols)).toEqual([id.login, id.bread, id.auth])
    })

    it('[THREADS-132] finds by meaning a new entry at once, a changed one by its new words, and never a deleted one', async () => {
      const thread = unique()
      const one = await s.store('zebras gallop over the savanna', { thread_id: thread })
      const first = async (query: string) =>
        (await s.ok('semantic_search_context', { query, thread_id: thread })).results[0]
      expect((await first('galloping zebra')).id).toBe(one)
      const near = (await first('galloping zebra')).scores.semantic_distance
      await s.ok('update_context', { context_id: one, text: 'submarines dive below the ice' })
      expect((await first('galloping zebra')).scores.semantic_distance).toBeGreaterThan(near)
      expect((await first('diving submarine')).scores.semantic_distance).toBeLessThan(1.2)
      await s.ok('delete_context', { context_ids: [one] })
      expect(await first('diving submarine')).toBeUndefined()
      const everywhere = await s.ok('semantic_search_context', { query: 'diving submarine', limit: 100 })
      expect(ids(everywhere)).not.toContain(one)
    })

    it('[THREADS-125] chooses the closest entries among those that pass the filters', async () => {
      expect(ids(await meaning('tokens', { source: 'agent' }))).toEqual([id.bread])
      expect(ids(await meaning('bread', { tags: ['BUG'] }))).toEqual([id.login])
      expect(ids(await meaning('bread', { metadata: { n: 1 } }))).toEqual([id.auth])
    })

    it('reports a filter that matches nothing, by meaning and by both', async () => {
      const nothing = [expect.stringMatching(/^No entry matches the filters/)]
      for (const tool of ['semantic_search_context', 'hybrid_search_context']) {
        const ask = (filter: object) => s.ok(tool, { query: 'bread', ...filter })
        const misspelt = await ask({ metadata: { project: unique('misspelt') } })
        expect([misspelt.total, misspelt.warnings]).toEqual([0, nothing])
        expect((await ask({ thread_id: unique('none') })).warnings).toEqual(nothing)
        for (const filter of [{}, { tags: ['bug'] }]) expect((await ask(filter)).warnings).toBeUndefined()
      }
    })

    it('[THREADS-127] finds a long text by any of its chunks, once', async () => {
      const filler = (word: string) => Array.from({ length: 200 }, (_, i) => `${word} paragraph ${i}.`).join(' ')
      const thread = unique()
      const long = `${filler('gardening')}\n\nThe reactor core temperature exceeded limits.\n\n${filler('knitting')}`
      const one = await s.store(long, { thread_id: thread })
      const { results } = await s.ok('semantic_search_context', {
        query: 'reactor core temperature',
        thread_id: thread,
      })
      expect(results.map((entry: { id: number }) => entry.id)).toEqual([one])
      const stats = (await s.ok('get_statistics')).semantic_search
      expect(stats.embedding_count).toBeGreaterThan(stats.context_count)
    })

    it('[THREADS-127] ranks the entry that holds the exact sentence above lines that share words with it, at any length', async () => {
      const thread = unique()
      const syllable = (n: number) => `${'bdfgklmnprstvz'[n % 14]}${'aeiou'[n % 5]}`
      const wordAt = (n: number) => [n, n * 11 + 3, n * 17 + 5, n * 29 + 7].map((one) => syllable(one >> 1)).join('')
      const prose = (length: number, from: number) =>
        Array.from({ length }, (_, i) => `${wordAt((from + i) * 37)}${(i + 1) % 11 === 0 ? '.' : ''}`).join(' ')
      const sentence = 'Renew the wildcard certificate two days before the quarterly audit begins.'
      const long = `${prose(360, 0)} ${sentence} ${prose(320, 500)}`
      expect(long.length).toBeGreaterThan(5_800)
      const lines = [
        'The audit of the old bakery found nothing strange at all.',
        'What begins well ends well.',
        'It was two in the morning.',
        'Come before lunch.',
      ]
      for (const line of lines) await s.store(line, { thread_id: thread })
      const one = await s.store(long, { thread_id: thread })
      const { results } = await s.ok('semantic_search_context', { query: sentence, thread_id: thread, limit: 1 })
      expect(ids({ results })).toEqual([one])
    })

    it('[THREADS-135] answers a hybrid search with the documented shape', async () => {
      const data = await both('authentication tokens', { explain_query: true, rrf_k: '10' })
      expect(Object.keys(data)).toEqual([
        ...['query', 'results', 'count', 'total', 'has_more', 'fusion_method', 'search_modes_used', 'fts_count'],
        ...['semantic_count', 'stats'],
      ])
      expect(data).toMatchObject({ fusion_method: 'rrf', search_modes_used: ['fts', 'semantic'], fts_count: 2 })
      expect(data.stats).toMatchObject({
        fts_stats: { rows_returned: 2 },
        semantic_stats: { backend: backend().database },
        fusion_stats: { method: 'rrf', rrf_k: 10, documents_in_both: 2, documents_fts_only: 0 },
      })
      const message = async (args: Record<string, unknown>) =>
        (await s.fail('hybrid_search_context', args)).data.error.message
      expect(await message({ query: 'x', rrf_k: 0 })).toBe('rrf_k must be at least 1')
      expect(await message({ query: 'x', fusion_method: 'sum' })).toBe('fusion_method must be one of: scores, rrf')
    })

    it('[THREADS-137] fuses by ranks on request, and returns null for a retriever that did not find an entry', async () => {
      const { results } = await both('authentication tokens', { fusion_method: 'rrf' })
      for (const { scores } of results) {
        expect(scores.fused).toBe(scores.rrf)
        const rrf = [scores.fts_rank, scores.semantic_rank].reduce((sum, rank) => sum + (rank ? 1 / (60 + rank) : 0), 0)
        expect(scores.rrf).toBe(Number(rrf.toPrecision(4)))
        expect(scores.fts_score === null).toBe(scores.fts_rank === null)
        expect(scores.semantic_distance === null).toBe(scores.semantic_rank === null)
      }
      const order = results.map((entry: { scores: { rrf: number } }) => entry.scores.rrf)
      expect(order).toEqual([...order].sort((a, b) => b - a))
      expect(results[0].scores).toMatchObject({ fts_rank: expect.any(Number), semantic_rank: expect.any(Number) })
    })

    it('[THREADS-138] fuses the word scores and the similarity of every candidate, also of those that only words found', async () => {
      const data = await both('authentication tokens', { explain_query: true })
      expect(data.fusion_method).toBe('scores')
      expect(await both('authentication tokens', { fusion_method: 'scores', rrf_k: 10 })).toMatchObject({
        fusion_method: 'scores',
      })
      const { lowest_cosine: lowest, method } = data.stats.fusion_stats
      expect([method, lowest < 1]).toEqual(['scores', true])
      const order: number[] = data.results.map((entry: { scores: { fused: number } }) => entry.scores.fused)
      expect(order).toEqual([...order].sort((a, b) => b - a))
      for (const { scores, text_content: text } of data.results) {
        const cosine = 1 - scores.semantic_distance ** 2 / 2
        const near = 90 * Math.min(1, text.length / 150) * ((cosine - lowest) / (1 - lowest)) ** 2
        expect(scores.fused).toBeCloseTo((scores.fts_score ?? 0) + near, 1)
      }
    })

    it('warns where nothing clearly fits, finds nothing where nothing is similar, and puts an exact title first', async () => {
      const thread_id = unique()
      const store = (title: string, text: string) => s.store(text, { thread_id, metadata: { title } })
      for (const subject of ['herons', 'glazes', 'ferries'])
        await store(
          `About ${subject}`,
          `The ${subject} of the harbour are counted at the end of each month by the keeper.`,
        )
      const titled = await store('Winter timetable', 'It holds from the first of December on.')
      const ask = (query: string) => s.ok('hybrid_search_context', { query, thread_id, limit: 10 })
      const doubtful = await ask('who repairs the quantum flux capacitors of starships in the harbour')
      expect(doubtful.warnings).toContain('Nothing clearly fits; the nearest are listed')
      expect(doubtful.count).toBeGreaterThan(0)
      const known = await ask('when are the herons of the harbour counted by the keeper')
      expect(known.warnings ?? []).not.toContain('Nothing clearly fits; the nearest are listed')
      expect((await ask('xqzv wplk')).results).toEqual([])
      expect((await ask('winter timetable')).results[0].id).toBe(titled)
    })

    it('asks whether other words were meant where no entry holds a word of a query', async () => {
      const thread_id = unique()
      await s.store('A retried refund paid twice. Bookings are moved by the accessibility desk.', { thread_id })
      await s.store('A crossing is cancelled when the wind turns.', { thread_id })
      for (const tool of ['hybrid_search_context', 'fts_search_context']) {
        const warned = async (query: string) =>
          (await s.ok(tool, { query, thread_id })).warnings?.find((one: string) => /did you mean/.test(one))
        expect(await warned('refnud')).toMatch(/did you mean refund\?/)
        expect(await warned('bokings')).toMatch(/did you mean bookings\?/)
        expect(await warned('accessibilty')).toMatch(/did you mean accessibility\?/)
        expect(await warned('cancled')).toMatch(/did you mean cancelled\?/)
        expect(await warned('refund')).toBeUndefined()
        expect(await warned('xqzvwplk')).toBeUndefined()
      }
      const found = await s.ok('fts_search_context', { query: 'cancled crossing', thread_id })
      expect(found.count).toBe(1)
    })

    it('finds compounds behind words, also by meaning, and doubts no query for their part', async () => {
      const thread_id = unique()
      const compound = await s.store('In der Bordküche arbeitet nur Personal, das einen Ausweis hat.', { thread_id })
      const simple = await s.store('Die Küche schließt eine Stunde vor dem Anlegen, damit der Boden trocknet.', {
        thread_id,
      })
      const ids = async (query: string) =>
        (await s.ok('hybrid_search_context', { query, thread_id })).results.map(({ id }: { id: number }) => id)
      expect(await ids('Küche')).toEqual([simple, compound])
      expect(await ids('Bordküche')).toEqual([compound, simple])
    })

    it('lists the successor of a superseded entry before it', async () => {
      const thread_id = unique()
      const old = await s.store('The kiln of the pottery cools in nine hours, says the kiln book.', { thread_id })
      const next = await s.store('The kiln cools in seven hours.', { thread_id, metadata: { supersedes: old } })
      const found = await s.ok('hybrid_search_context', { query: 'kiln book of the pottery nine hours', thread_id })
      expect(found.results.map(({ id }: { id: number }) => id)).toEqual([next, old])
    })

    it('[THREADS-144] cuts one order of the hybrid search into pages', async () => {
      const many = unique()
      const entries = Array.from({ length: 60 }, (_, i) => ({
        thread_id: many,
        source: 'user',
        text: `page number ${i}`,
      }))
      await s.ok('store_context_batch', { entries })
      const whole = await both('page number 7', { thread_id: many, limit: 100 })
      expect(whole.total).toBe(60)
      const pages = await Promise.all(
        [0, 25, 50].map((offset) => both('page number 7', { thread_id: many, limit: 25, offset })),
      )
      expect(pages.flatMap(ids)).toEqual(ids(whole))
      expect(await both('page', { offset: 100 })).toMatchObject({ results: [], search_modes_used: [] })
    })
  })
}
