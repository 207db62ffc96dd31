import { beforeAll, describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

/** Full text, over a real connection. */
export function searchingContract(connect: Connect): void {
  describe('searching by words', () => {
    const s = useSession(connect)
    const thread_id = unique()
    const id: Record<string, number> = {}
    beforeAll(async () => {
      id.fox = await s.store('The quick brown fox jumps over the lazy dog', { thread_id, tags: ['animal'] })
      id.dog = await s.store('Dogs were running in the park', { thread_id, source: 'agent', tags: ['animal'] })
      id.car = await s.store('A quick car passes the park gate', { thread_id, metadata: { kind: 'note', n: 1 } })
    })
    const search = (query: string, more: Record<string, unknown> = {}) =>
      s.ok('fts_search_context', { query, thread_id, ...more })
    const ids = (data: { results: { id: number }[] }) => data.results.map((entry) => entry.id)

    it('[THREADS-88] answers a word search with the documented shape', async () => {
      const data = await search('quick', { explain_query: true })
      expect(Object.keys(data)).toEqual([
        ...['query', 'mode', 'results', 'count', 'total', 'has_more', 'language', 'fts_available', 'stats'],
      ])
      expect(data).toMatchObject({ query: 'quick', mode: 'match', count: 2, total: 2, language: 'english' })
      expect(data.results[0].scores).toEqual({ fts_score: expect.any(Number), fts_rank: null, rerank_score: null })
      expect(data.results[0]).not.toHaveProperty('highlighted')
      const message = async (args: Record<string, unknown>) =>
        (await s.fail('fts_search_context', args)).data.error.message
      expect(await message({})).toBe('Missing required field: query')
      expect(await message({ query: '  ' })).toMatch(/query cannot be empty/)
      expect(await message({ query: 'x'.repeat(10_001) })).toMatch(/10000/)
      expect(await message({ query: 'x', mode: 'fuzzy' })).toBe('mode must be one of: match, prefix, phrase, boolean')
    })

    it('[THREADS-102] searches in four modes', async () => {
      expect(ids(await search('run dogs')).sort()).toEqual([id.fox, id.dog].sort())
      expect(ids(await search('par', { mode: 'prefix' })).sort()).toEqual([id.dog, id.car].sort())
      expect(ids(await search('the lazy dog', { mode: 'phrase' }))).toEqual([id.fox])
      expect(ids(await search('park AND NOT dog', { mode: 'boolean' }))).toEqual([id.car])
      expect(ids(await search('NOT park', { mode: 'boolean' }))).toEqual([id.fox])
    })

    it('[THREADS-102] finds words by their prefix in written form', async () => {
      expect(ids(await search('runn', { mode: 'prefix' }))).toEqual([id.dog])
      expect(ids(await search('runn* OR zebr*', { mode: 'boolean' }))).toEqual([id.dog])
      expect(ids(await search('jumpe', { mode: 'prefix' }))).toEqual([])
    })

    it('[THREADS-103] does not require the stop word of a possessive', async () => {
      expect(ids(await search("fox's den"))).toEqual([id.fox])
      expect(ids(await search("dog's running"))).toContain(id.dog)
    })

    it('[THREADS-104] ignores function words of another language and searches names completely', async () => {
      const thread_id = unique('languages')
      const store = async (text: string): Promise<number> =>
        (await s.ok('store_context', { thread_id, source: 'user', text })).context_id
      const galley = await store('Die Wartung in der Küche ist jeden Montag')
      const fare = await store('Der Preis der Fähre, auf der die Kinder frei fahren')
      const city = await store('los muchachos: Angeles')
      const found = async (query: string, more: object = {}) => ids(await search(query, { thread_id, ...more }))
      expect(await found('Wartung der Bordküche')).toEqual([galley])
      expect(await found('Wie ist die Wartung in der Küche?')).toEqual([galley])
      expect(await found('"der Preis" der Wartung')).toEqual([galley, fare].sort((a, b) => b - a))
      expect((await found('wer ist der')).sort()).toEqual([galley, fare])
      expect(await found('Los Angeles')).toEqual([city])
      expect(await found('der Preis der', { mode: 'phrase' })).toEqual([fare])
      expect(await found('der AND frei', { mode: 'boolean' })).toEqual([fare])
    })

    it('[THREADS-109] refuses a malformed boolean query with the position of the error', async () => {
      const cases: [string, number][] = [
        ['(a', 1],
        ['a )', 3],
        ['()', 1],
        ['a "b', 3],
        ['a ""', 3],
        ['AND a', 1],
        ['a OR', 3],
        ['a NOT', 3],
        ['🌍b AND (c', 8],
        ['a*b', 2],
        ['-a', 1],
        ['a +b', 3],
        [':a', 1],
        ['a !!', 3],
      ]
      for (const [query, position] of cases) {
        const { data } = await s.fail('fts_search_context', { query, mode: 'boolean' })
        expect([query, data.error.code]).toEqual([query, 'invalid_input'])
        expect(data.error.message).toMatch(new RegExp(`^Boolean query, position ${position}: `))
      }
      const deep = (n: number) => `${'('.repeat(n)}a${')'.repeat(n)}`
      await search(deep(32), { mode: 'boolean' })
      expect((await s.fail('fts_search_context', { query: deep(33), mode: 'boolean' })).data.error.message).toMatch(
        /32/,
      )
      const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`).join(' OR ')
      await search(words(64), { mode: 'boolean' })
      expect((await s.fail('fts_search_context', { query: words(65), mode: 'boolean' })).data.error.message).toMatch(
        /64/,
      )
    })

    it('[THREADS-90] finds nothing for a query without letters or digits', async () => {
      for (const mode of ['match', 'prefix', 'phrase'])
        expect(await search('!?* "', { mode })).toMatchObject({ results: [], count: 0, total: 0, has_more: false })
      expect((await s.fail('fts_search_context', { query: '!?', mode: 'boolean' })).data.error.code).toBe(
        'invalid_input',
      )
    })

    it('[THREADS-112] orders by all words first, then score, with positive rounded scores', async () => {
      const data = await search('quick brown park')
      expect(ids(data)).toHaveLength(3)
      const scores = data.results.map((entry: { scores: { fts_score: number } }) => entry.scores.fts_score)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
      for (const score of scores) {
        expect(score).toBeGreaterThan(0)
        expect(Math.round(score * 1e6) / 1e6).toBe(score)
      }
      expect(ids(await search('quick park'))[0]).toBe(id.car)
      const negated = await search('NOT park', { mode: 'boolean' })
      expect(negated.results[0].scores.fts_score).toBe(0)
    })

    it('[THREADS-115] marks hits in at most 300 characters of plain text', async () => {
      const [first] = (await search('dog run', { highlight: true, source: 'agent' })).results
      expect(first.highlighted).toBe('<mark>Dogs</mark> were <mark>running</mark> in the park')
      const long = unique()
      const text = `${'padding words here '.repeat(60)}<b>needle</b> & ${'more padding after '.repeat(60)}`
      await s.store(text, { thread_id: long })
      const [found] = (await search('needle', { highlight: true, thread_id: long })).results
      expect([...found.highlighted].length).toBeLessThanOrEqual(300)
      expect(found.highlighted).toContain('<b><mark>needle</mark></b> &')
      expect(found.highlighted).toMatch(/^….*…$/)
      const [none] = (await search('NOT zebra', { mode: 'boolean', highlight: true })).results
      expect(none.highlighted).toBeNull()
    })

    it('[THREADS-144] cuts one order of at most 100 entries into pages', async () => {
      const many = unique()
      const entries = Array.from({ length: 100 }, (_, i) => ({
        thread_id: many,
        source: 'user',
        text: `page word ${i}`,
      }))
      await s.ok('store_context_batch', { entries })
      await s.ok('store_context_batch', { entries: entries.map((e) => ({ ...e, text: `${e.text} more` })) })
      const whole = await search('page', { thread_id: many, limit: 100 })
      expect(whole).toMatchObject({ count: 100, total: 100, has_more: false })
      const pages = await Promise.all(
        [0, 40, 80].map((offset) => search('page', { thread_id: many, limit: 40, offset })),
      )
      expect(pages.flatMap(ids)).toEqual(ids(whole))
      expect(pages[2]).toMatchObject({
        rank_depth_limit: { requested_offset: 80, requested_limit: 40, rank_depth: 100 },
      })
      expect(pages[0]).not.toHaveProperty('rank_depth_limit')
      expect(await search('page', { thread_id: many, offset: 100 })).toMatchObject({
        ...{ results: [], count: 0, total: 0, has_more: false },
        warnings: [expect.stringContaining('Nothing was searched: only the best')],
      })
    })

    it('explains why a query of punctuation finds nothing, and no other query', async () => {
      await s.store('paid 5 € 👍')
      const why = { warnings: [expect.stringContaining('no letter or digit')] }
      for (const mode of ['match', 'prefix', 'phrase'])
        for (const query of ['€', '👍', '"€"'])
          expect([mode, query, await search(query, { mode })]).toMatchObject([mode, query, { total: 0, ...why }])
      expect(await s.ok('context_recall', { query: '👍', mode: 'keyword' })).toMatchObject({ total: 0, ...why })
      expect(await search('5 €')).not.toHaveProperty('warnings')
      // Omissions because of length are reported as such.
      const long = Array.from({ length: 70 }, (_, i) => `w${i}`).join(' ')
      expect((await search(`"${long}"`)).warnings).toEqual([expect.stringContaining('phrases of more than')])
    })

    it('[THREADS-106] uses the first 64 distinct words and warns', async () => {
      const query = `${Array.from({ length: 64 }, (_, i) => `filler${i}`).join(' ')} fox`
      const data = await search(query)
      expect(data.warnings).toEqual(['only the first 64 distinct words of the query were used'])
      expect(data.count).toBe(0)
    })

    it('[THREADS-87] applies filters before the cut', async () => {
      expect(ids(await search('park', { source: 'agent' }))).toEqual([id.dog])
      expect(ids(await search('quick', { metadata: { n: 1 } }))).toEqual([id.car])
      expect(ids(await search('quick', { tags: ['ANIMAL'] }))).toEqual([id.fox])
      expect((await search('quick', { end_date: '2001-01-01' })).total).toBe(0)
    })
  })
}
