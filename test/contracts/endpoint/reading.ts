import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { literal } from '../../support/numbers'
import { backend, unique, useSession } from './session'

/** Browsing, filtering, threads and statistics, over a real connection. */
export function readingContract(connect: Connect): void {
  describe('reading', () => {
    const s = useSession(connect)
    const archive = (id: number) => s.server.sql(`UPDATE entries SET archived = 1 WHERE id = ${id}`)
    const message = async (name: string, args: Record<string, unknown>) => (await s.fail(name, args)).data.error.message
    const ids = (data: { results: { id: number }[] }) => data.results.map(({ id }) => id)

    it('[THREADS-22] shows entries with their keys in a fixed order', async () => {
      const thread_id = unique()
      await s.store('x', { thread_id })
      const [found] = (await s.ok('search_context', { thread_id })).results
      expect(Object.keys(found)).toEqual([
        ...['id', 'thread_id', 'source', 'content_type', 'text_content', 'metadata', 'summary', 'created_at'],
        ...['updated_at', 'version', 'tags', 'is_text_content_truncated', 'by'],
      ])
      expect(found).toMatchObject({ summary: '', metadata: null, is_text_content_truncated: false })
      const [whole] = (await s.ok('get_context_by_ids', { context_ids: [found.id] })).result
      expect(Object.keys(whole)).toEqual([
        ...['id', 'thread_id', 'source', 'content_type', 'text_content', 'metadata', 'created_at', 'updated_at'],
        ...['version', 'tags', 'by'],
      ])
    })

    it('[THREADS-68] returns complete entries in the requested order, once each, and lists missing ids', async () => {
      const [a, b] = [await s.store('a'.repeat(400)), await s.store('b')]
      const { result, missing } = await s.ok('get_context_by_ids', { context_ids: [b, 777_777, a, b] })
      expect(result.map(({ id }: { id: number }) => id)).toEqual([b, a])
      expect(missing).toEqual([777_777])
      expect(result[1].text_content).toBe('a'.repeat(400))
    })

    it('[THREADS-69] reads archived entries by id and marks them, for any metadata', async () => {
      const id = await s.store('x', { metadata: { status: 'archived' } })
      const thread_id = (await s.ok('get_context_by_ids', { context_ids: [id] })).result[0].thread_id
      expect((await s.ok('search_context', { thread_id })).total).toBe(1)
      await archive(id)
      const [entry] = (await s.ok('get_context_by_ids', { context_ids: [id] })).result
      expect(entry.archived).toBe(true)
      expect((await s.ok('search_context', { thread_id: entry.thread_id })).total).toBe(0)
      await s.ok('update_context', { context_id: id, metadata_patch: { status: 'todo' } })
      expect((await s.ok('search_context', { thread_id })).total).toBe(0)
    })

    it('names the entry that supersedes another, by id and in each search', async () => {
      const thread_id = unique()
      const words = `pelican ${unique()}`
      const old = await s.store(`${words} nests on the pier`, { thread_id })
      const { id } = await s.ok('remember', {
        ...{ title: 'Pelicans', content: `${words} nests in the marsh`, related_to: [`supersedes:${old}`] },
      })
      const shown = { id: old, superseded_by: Number(id) }
      const whole = (await s.ok('get_context_by_ids', { context_ids: [old, Number(id)] })).result
      expect(whole).toMatchObject([shown, { id: Number(id) }])
      expect(whole[1].superseded_by).toBeUndefined()
      for (const [name, args] of [
        ['search_context', { thread_id }],
        ['fts_search_context', { query: words, thread_id }],
        ['semantic_search_context', { query: words, thread_id }],
        ['hybrid_search_context', { query: words, thread_id }],
      ] as const)
        expect((await s.ok(name, args)).results).toMatchObject([shown])
    })

    it('[THREADS-71] lists threads by last use with counts, pages and totals', async () => {
      const [older, newer] = [unique(), unique()]
      const first = await s.store('a', { thread_id: older })
      await s.store('b', { thread_id: newer })
      const last = await s.store('c', { thread_id: older, source: 'agent' })
      const { threads, total, total_threads, has_more } = await s.ok('list_threads', { limit: 2 })
      expect(threads.map(({ thread_id }: { thread_id: string }) => thread_id)).toEqual([older, newer])
      expect(threads[0]).toMatchObject({ entry_count: 2, source_types: 2, multimodal_count: 0, last_id: last })
      expect(threads[1]).toMatchObject({ entry_count: 1, source_types: 1 })
      expect(total_threads).toBe(total)
      expect(has_more).toBe(total > 2)
      const rest = await s.ok('list_threads', { offset: 1 })
      expect(rest.threads[0].thread_id).toBe(newer)
      expect(rest.total).toBe(total)
      await s.ok('delete_context', { context_ids: [last] })
      const after = (await s.ok('list_threads', {})).threads.find((t: { thread_id: string }) => t.thread_id === older)
      expect(after).toMatchObject({ entry_count: 1, source_types: 1, last_id: first })
    })

    it('[THREADS-72] pages newest first with an exact total', async () => {
      const thread_id = unique()
      const stored: number[] = []
      for (let i = 0; i < 7; i++) stored.push(await s.store(`text ${i}`, { thread_id }))
      const newest = stored.toReversed()
      const page = await s.ok('search_context', { thread_id, limit: 3, offset: 3 })
      expect(ids(page)).toEqual(newest.slice(3, 6))
      expect(page).toMatchObject({ count: 3, total: 7, has_more: true })
      expect(await s.ok('search_context', { thread_id, limit: 3, offset: 6 })).toMatchObject({
        count: 1,
        has_more: false,
      })
    })

    it('[THREADS-76] truncates at the last space beyond 70 percent and never below 300 characters', async () => {
      const shown = async (text: string) => {
        const thread_id = unique()
        await s.store(text, { thread_id })
        const [entry] = (await s.ok('search_context', { thread_id })).results
        return [entry.text_content, entry.is_text_content_truncated]
      }
      const a = (n: number) => 'a'.repeat(n)
      expect(await shown(`${a(205)} ${a(200)}`)).toEqual([`${a(205)} ${a(94)}...`, true])
      expect(await shown(`${a(215)} ${a(200)}`)).toEqual([`${a(215)}...`, true])
      expect(await shown(a(301))).toEqual([`${a(300)}...`, true])
      expect(await shown(a(300))).toEqual([a(300), false])
      expect(await shown('🌍'.repeat(301))).toEqual([`${'🌍'.repeat(300)}...`, true])
      expect(await shown(`${a(250)}\n${a(200)}`)).toEqual([`${a(250)}\n${a(49)}...`, true])
    })

    it('[THREADS-77] explains a search in product words with the number of filters', async () => {
      const { stats } = await s.ok('search_context', {
        thread_id: 't',
        source: 'user',
        tags: ['a'],
        content_type: 'text',
        start_date: '2020-01-01',
        end_date: '2099-01-01',
        metadata: { a: 1, b: 2 },
        metadata_filters: [{ key: 'c', operator: 'exists' }],
        explain_query: true,
      })
      expect(stats).toMatchObject({ filters_applied: 9, rows_returned: 0, backend: backend().database })
      expect(stats.execution_time_ms).toBeGreaterThanOrEqual(0)
      expect(stats.query_plan).not.toMatch(/select|where|json_/i)
    })

    it('[THREADS-78] accepts the forms of ISO 8601 dates, and a bare end date includes its full day', async () => {
      const thread_id = unique()
      await s.store('now', { thread_id })
      const [{ created_at }] = (await s.ok('search_context', { thread_id })).results
      const day = created_at.slice(0, 10)
      const count = async (range: Record<string, string>) =>
        (await s.ok('search_context', { thread_id, ...range })).count
      const compact = day.replaceAll('-', '')
      for (const start_date of [
        day,
        compact,
        `${day}T00:00`,
        `${day} 00:00:00.000`,
        created_at,
        created_at.slice(0, 19),
      ])
        expect([start_date, await count({ start_date })]).toEqual([start_date, 1])
      expect(await count({ end_date: day, start_date: day })).toBe(1)
      expect(await count({ end_date: created_at })).toBe(1)
      expect(await count({ start_date: `${created_at.slice(0, 19)}.5Z` })).toBe(0)
      const shifted = new Date(Date.parse(created_at) + 2 * 3_600_000).toISOString().slice(0, 19)
      expect(await count({ start_date: `${shifted}+02:00`, end_date: `${shifted}+0200` })).toBe(1)
    })

    it('[THREADS-79] refuses every other form of date by its value, and a start after the end', async () => {
      const bad = ['2025-13-01', '2025-02-30', '2025-01-01T24:00', '2025-01-01T10:00:60', '2025-11', '11/29/2025']
      for (const value of [
        ...bad,
        '2025-01-01T10:00:00+14:01',
        '2025-01-01T10:00:00+02:00:30',
        'yesterday',
        ' 2025-01-01',
      ])
        expect(await message('search_context', { end_date: value })).toContain(`Invalid end_date format: ${value}`)
      // An empty string counts as absent.
      await s.ok('search_context', { start_date: '', end_date: '', thread_id: '' })
      expect(await message('search_context', { start_date: '2025-01-02', end_date: '2025-01-01' })).toMatch(
        /start_date .* is after end_date/,
      )
    })

    it('[THREADS-80] compares metadata exactly, with case and type', async () => {
      const thread_id = unique()
      const id = await s.store('x', { thread_id, metadata: { s: 'Done', n: 5, b: true, deep: { k: 'v' } } })
      const found = async (metadata: unknown) => ids(await s.ok('search_context', { thread_id, metadata }))
      for (const metadata of [{ s: 'Done' }, { n: 5.0 }, { b: true, n: 5 }, { 'deep.k': 'v' }, {}])
        expect([metadata, await found(metadata)]).toEqual([metadata, [id]])
      for (const metadata of [{ s: 'done' }, { n: '5' }, { b: 'true' }, { b: 1 }, { s: 'Done', n: 6 }])
        expect([metadata, await found(metadata)]).toEqual([metadata, []])
    })

    it('[THREADS-84] applies each operator as documented', async () => {
      const thread_id = unique()
      const rows: Record<string, unknown>[] = [
        { v: 5 },
        { v: 5.5 },
        { v: 'Apple' },
        { v: 'banana' },
        { v: true },
        { v: null },
        {},
        { v: ['Red', 1, false] },
        { v: { a: 1 } },
      ]
      for (const [i, metadata] of rows.entries()) await s.store(`row ${i}`, { thread_id, metadata })
      const found = async (operator: string | undefined, value?: unknown, case_sensitive?: boolean) => {
        const filter = { key: 'v', ...(operator ? { operator } : {}), ...(value === undefined ? {} : { value }) }
        const { results } = await s.ok('search_context', {
          thread_id,
          metadata_filters: [{ ...filter, ...(case_sensitive === undefined ? {} : { case_sensitive }) }],
        })
        return results.map((entry: { text_content: string }) => Number(entry.text_content.slice(4))).sort()
      }
      expect(await found(undefined, 'APPLE')).toEqual([2])
      expect(await found('eq', 'APPLE', true)).toEqual([])
      expect(await found('eq', 5)).toEqual([0])
      expect(await found('ne', 5)).toEqual([1])
      expect(await found('ne', 'apple')).toEqual([3])
      expect(await found('ne', false)).toEqual([4])
      expect(await found('gt', 5)).toEqual([1])
      expect(await found('gte', 5)).toEqual([0, 1])
      expect(await found('lt', 5.5)).toEqual([0])
      expect(await found('lte', 'Z')).toEqual([2])
      expect(await found('in', [5, 'BANANA', true])).toEqual([0, 3, 4])
      expect(await found('not_in', [5, 'banana'])).toEqual([1, 2, 4, 7, 8])
      expect(await found('exists')).toEqual([0, 1, 2, 3, 4, 7, 8])
      expect(await found('is_not_null')).toEqual([0, 1, 2, 3, 4, 7, 8])
      expect(await found('not_exists')).toEqual([5, 6])
      expect(await found('is_null')).toEqual([5])
      expect(await found('contains', 'PL')).toEqual([2])
      expect(await found('contains', '')).toEqual([2, 3])
      expect(await found('contains', '%')).toEqual([])
      expect(await found('starts_with', 'app')).toEqual([2])
      expect(await found('starts_with', 'app', true)).toEqual([])
      expect(await found('ends_with', 'NA')).toEqual([3])
      expect(await found('array_contains', 'red')).toEqual([7])
      expect(await found('array_contains', 1)).toEqual([7])
      expect(await found('array_contains', true)).toEqual([])
    })

    it('[THREADS-83] never matches a value of another JSON type', async () => {
      const thread_id = unique()
      await s.store('x', { thread_id, metadata: { n: 5, t: 'true', b: true } })
      const count = async (key: string, operator: string, value: unknown) =>
        (await s.ok('search_context', { thread_id, metadata_filters: [{ key, operator, value }] })).count
      expect(await count('n', 'eq', '5')).toBe(0)
      expect(await count('t', 'eq', true)).toBe(0)
      expect(await count('b', 'eq', 1)).toBe(0)
      expect(await count('b', 'in', [1, 'true'])).toBe(0)
      expect(await count('n', 'gt', '4')).toBe(0)
      expect(await count('n', 'contains', '5')).toBe(0)
    })

    it('[THREADS-82] follows dots into nested objects', async () => {
      const thread_id = unique()
      const id = await s.store('x', {
        thread_id,
        metadata: { user: { prefs: { theme: 'Dark' } }, 'a.b': 1, '0': 'zero' },
      })
      const found = async (key: string, value: unknown) =>
        ids(await s.ok('search_context', { thread_id, metadata_filters: [{ key, value }] }))
      expect(await found('user.prefs.theme', 'dark')).toEqual([id])
      expect(await found('0', 'zero')).toEqual([id])
      expect(await found('a.b', 1)).toEqual([])
      expect(await found('user.prefs', 'Dark')).toEqual([])
    })

    it('[THREADS-21, THREADS-85] rejects bad filters all at once, with an empty page next to the error', async () => {
      const { data } = await s.fail('search_context', {
        metadata: { ok: 1, bad: null },
        metadata_filters: [
          { key: 'bad key', value: 1 },
          { key: 'a', operator: 'like', value: 1 },
          { key: 'a', operator: 'in', value: [] },
          { key: 'a' },
          { key: 'a', operator: 'gt', value: true },
          { key: 'a..b', operator: 'exists' },
          { key: 'a.0', operator: 'exists' },
          { key: 'a', value: literal('9007199254740993') },
          { value: 1 },
          { key: 'a', operator: 'contains', value: 5 },
          { key: 'a', value: 'x\u0000' },
          'no object',
        ],
      })
      expect(data).toMatchObject({ results: [], count: 0, total: 0, has_more: false })
      expect(data.error.message).toMatch(/^Metadata filter validation failed/)
      expect(data.validation_errors).toHaveLength(13)
      expect(data.validation_errors[0]).toMatch(/^Invalid metadata key "bad": /)
      expect(data.validation_errors[1]).toMatch(/^Invalid metadata filter at index 0 \(key "bad key"\): /)
      const tags = await s.fail('search_context', { tags: [' ', ''] })
      expect(tags.data).toMatchObject({
        error: { message: 'Tag filter requires at least one non-blank tag' },
        validation_errors: [expect.any(String)],
      })
      const fts = await s.fail('fts_search_context', { query: 'x', metadata: { a: [] } })
      expect(fts.data).toMatchObject({ query: 'x', mode: 'match', language: 'english', results: [] })
      expect((await s.ok('search_context', { tags: [] })).count).toBeGreaterThan(0)
    })

    it('[THREADS-81] accepts a hundred metadata filters at once', async () => {
      const thread_id = unique()
      const metadata = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, `value ${i}`]))
      const id = await s.store('x', { thread_id, metadata })
      const metadata_filters = Object.entries(metadata).map(([key, value], i) => ({
        key,
        operator: ['eq', 'in', 'contains', 'not_in'][i % 4],
        value: i % 4 === 1 ? [value, 'other'] : i % 4 === 3 ? ['other'] : value,
      }))
      expect(ids(await s.ok('search_context', { thread_id, metadata, metadata_filters }))).toEqual([id])
    })
  })

  describe('statistics', () => {
    const s = useSession(connect)
    const archive = (id: number) => s.server.sql(`UPDATE entries SET archived = 1 WHERE id = ${id}`)

    it('[THREADS-150] counts all visible entries and reports every block', async () => {
      const empty = await s.ok('get_statistics')
      expect(empty).toMatchObject({ total_entries: 0, by_source: { user: 0, agent: 0 }, avg_entries_per_thread: 0 })
      const image = { data: Buffer.from('GIF89a-statistics').toString('base64') }
      await s.store('a', { thread_id: 'busy', tags: ['x', 'y'], images: [image, image] })
      await s.store('b', { thread_id: 'busy', source: 'agent', tags: ['x'] })
      await s.store('c', { thread_id: 'calm' })
      await archive(await s.store('hidden', { thread_id: 'gone', tags: ['z'] }))
      const stats = await s.ok('get_statistics')
      expect(stats).toMatchObject({
        total_entries: 3,
        by_source: { user: 2, agent: 1 },
        by_content_type: { text: 2, multimodal: 1 },
        total_images: 2,
        unique_tags: 2,
        total_threads: 2,
        avg_entries_per_thread: 1.5,
        most_active_threads: [
          { thread_id: 'busy', count: 2 },
          { thread_id: 'calm', count: 1 },
        ],
        top_tags: [
          { tag: 'x', count: 2 },
          { tag: 'y', count: 1 },
        ],
        backend: backend().database,
        connection_metrics: {
          ...{ backend_type: backend().database, circuit_state: 'healthy', failed_queries: 0, pool_size: 1 },
        },
        embeddings_size_estimated: false,
        fts: {
          enabled: true,
          available: true,
          language: 'english',
          stemming: true,
          engine: backend().fullText,
          indexed_entries: 3,
        },
        pending_work: { failed: 0 },
      })
      expect(stats.semantic_search).toEqual({
        enabled: true,
        available: true,
        backend: backend().vectors,
        provider: 'local',
        model: 'hashed-features-v1',
        dimensions: 512,
        context_count: 3,
        embedding_count: 3,
        average_chunks_per_entry: 1,
        coverage_percentage: 100,
        waiting_count: 0,
      })
      expect(stats.chunking).toMatchObject({ enabled: true, chunk_size: 1500, chunk_overlap: 150, aggregation: 'max' })
      for (const block of ['reranking', 'summary']) expect(stats[block]).toEqual({ enabled: false, available: false })
    })
  })
}
