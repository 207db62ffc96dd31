import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { literal } from '../../support/numbers'
import { unique, useSession } from './session'

/** Storing, updating and deleting, over a real connection. */
export function writingContract(connect: Connect): void {
  describe('writing', () => {
    const s = useSession(connect)
    const message = async (name: string, args: Record<string, unknown>) => (await s.fail(name, args)).data.error.message
    const draft = (more: Record<string, unknown> = {}) => ({
      thread_id: unique(),
      source: 'user',
      text: 'words',
      ...more,
    })
    const get = async (id: number) => (await s.ok('get_context_by_ids', { context_ids: [id] })).result[0]

    it('[THREADS-24] stores an entry and answers with a message that clients can parse', async () => {
      const thread_id = unique()
      const result = await s.ok('store_context', { thread_id: ` ${thread_id} `, source: 'agent', text: 'a finding' })
      expect(result).toEqual({
        success: true,
        context_id: expect.any(Number),
        thread_id,
        version: 1,
        message: 'Context stored (embedding generated)',
      })
      expect(await get(result.context_id)).toMatchObject({ source: 'agent', content_type: 'text', metadata: null })
    })

    it('[THREADS-25, THREADS-50] lists in brackets what was generated, and after an update what was regenerated', async () => {
      const args = draft()
      expect((await s.ok('store_context', args)).message).toBe('Context stored (embedding generated)')
      const again = await s.ok('store_context', args)
      expect(again.message).toBe('Context updated')
      const context_id = again.context_id
      const same = await s.ok('update_context', { context_id, text: args.text })
      expect(same).toMatchObject({ updated_fields: ['text_content'], message: 'Successfully updated 1 field(s)' })
      const updates = [{ context_id, text: 'other words' }]
      const batch = await s.ok('update_context_batch', { updates })
      expect(batch.message).toBe('Updated 1/1 entries successfully (embeddings regenerated)')
      expect(batch.results[0].updated_fields).toEqual(['text_content', 'embedding'])
    })

    it('[THREADS-23] accepts exactly user or agent as source', async () => {
      for (const source of ['User', 'system', '', null, 1])
        expect(await message('store_context', draft({ source }))).toMatch(/source/)
    })

    it('[THREADS-23] accepts texts of up to 1,000,000 UTF-8 bytes', async () => {
      await s.ok('store_context', draft({ text: 'é'.repeat(500_000) }))
      const { data } = await s.fail('store_context', draft({ text: `${'é'.repeat(500_000)}x` }))
      expect(data.error).toMatchObject({ code: 'limit_exceeded', message: expect.stringContaining('1000001') })
    })

    it('[THREADS-23] accepts thread ids of up to 256 characters', async () => {
      await s.ok('store_context', draft({ thread_id: '🌍'.repeat(256) }))
      expect(await message('store_context', draft({ thread_id: 'x'.repeat(257) }))).toMatch(/256/)
    })

    it('[THREADS-27] stores any JSON object as metadata, also with keys of prototypes', async () => {
      const metadata = JSON.parse(
        '{"__proto__": {"x": 1}, "constructor": "c", "n": null, "deep": [{"a": [true, 1.5]}], "": ""}',
      )
      const entry = await get(await s.store('x', { metadata }))
      expect(JSON.stringify(entry.metadata)).toBe(JSON.stringify(metadata))
      expect((await get(await s.store('y', { metadata: {} }))).metadata).toEqual({})
    })

    it('[THREADS-27] refuses metadata above 256 KB and integers that a double would change', async () => {
      await s.ok('store_context', draft({ metadata: { a: 'x'.repeat(262_144 - 8) } }))
      expect(await message('store_context', draft({ metadata: { a: 'x'.repeat(262_144 - 7) } }))).toMatch(/256 KB/)
      expect(await message('store_context', draft({ metadata: { a: [literal('9007199254740993')] } }))).toMatch(
        /^metadata\.a\[0\] is the integer 9007199254740993, .* send it as a string$/,
      )
    })

    it('[THREADS-27] refuses large lists and objects under indexed keys, also in patches and batches', async () => {
      const large = Array(40).fill('x'.repeat(100))
      const told =
        /^(metadata|metadata_patch)\.(project|status) is indexed and too long: .* 4121 characters as JSON; at most 512/
      expect(await message('store_context', draft({ metadata: { project: large } }))).toMatch(told)
      const id = await s.store('x', { metadata: { project: ['alpha', 'beta'], technologies: large, other: large } })
      expect(await message('update_context', { context_id: id, metadata: { status: large } })).toMatch(told)
      expect(await message('update_context', { context_id: id, metadata_patch: { status: large } })).toMatch(told)
      const entries = [draft(), draft({ metadata: { project: large } })]
      const batch = await s.ok('store_context_batch', { entries, atomic: false })
      expect(batch.results[1]).toMatchObject({
        success: false,
        code: 'limit_exceeded',
        error: expect.stringMatching(told),
      })
      expect((await get(id)).metadata.project).toEqual(['alpha', 'beta'])
    })

    it('[THREADS-28] refuses an unknown audience, diary or expiry, and stores other unusual values unchanged', async () => {
      expect(await message('store_context', draft({ metadata: { audience: 'everyone' } }))).toMatch(/audience/)
      expect(await message('store_context', draft({ metadata: { diary: 'yes' } }))).toMatch(/diary/)
      expect(await message('store_context', draft({ metadata: { expires_at: 'soon' } }))).toMatch(/expires_at/)
      expect(await message('store_context', draft({ metadata: { project: 'p'.repeat(241) } }))).toMatch(/240/)
      const metadata = { status: 'active', weight: 'heavy', pinned: 'yes', kind: 'unheard of', project: ['a', 'b'] }
      expect((await get(await s.store('x', { metadata }))).metadata).toEqual(metadata)
    })

    it('[THREADS-31] returns the same id for a repeated store and raises its version', async () => {
      const args = draft({ text: 'the same' })
      const first = await s.ok('store_context', args)
      const again = await s.ok('store_context', { ...args, text: ' the same ' })
      expect(again).toMatchObject({ context_id: first.context_id, version: 2, message: 'Context updated' })
      const all = await Promise.all(Array.from({ length: 20 }, () => s.ok('store_context', args)))
      expect(new Set(all.map(({ context_id }) => context_id))).toEqual(new Set([first.context_id]))
    })

    it('[THREADS-34] leaves omitted metadata, tags and images of a repeated store unchanged and replaces given ones', async () => {
      const args = draft({ metadata: { a: 1 }, tags: ['t'] })
      const { context_id: id } = await s.ok('store_context', args)
      await s.ok('store_context', { thread_id: args.thread_id, source: 'user', text: 'words' })
      expect(await get(id)).toMatchObject({ metadata: { a: 1 }, tags: ['t'] })
      await s.ok('store_context', { ...args, metadata: { b: 2 }, tags: [] })
      expect(await get(id)).toMatchObject({ metadata: { b: 2 }, tags: [], version: 3 })
    })

    it('[THREADS-32] stores a repeated text after an answer as a new turn', async () => {
      const thread_id = unique()
      const yes = await s.store('yes', { thread_id })
      await s.store('answer', { thread_id, source: 'agent' })
      expect(await s.store('yes', { thread_id })).not.toBe(yes)
    })

    it('[THREADS-38] trims, lower-cases and sorts tags and drops repeated ones', async () => {
      const id = await s.store('x', {
        tags: ['Zeta', ' alpha ', 'ALPHA', '', '  ', 'Two Words', 'Ärger', '🌍', '\uffee'],
      })
      expect((await get(id)).tags).toEqual(['alpha', 'two words', 'zeta', 'ärger', '\uffee', '🌍'])
    })

    it('[THREADS-39] refuses a tag longer than 128 characters after trimming', async () => {
      await s.ok('store_context', draft({ tags: [` ${'🌍'.repeat(128)} `] }))
      expect(await message('store_context', draft({ tags: ['x'.repeat(129)] }))).toMatch(/128/)
      const { results } = await s.ok('store_context_batch', {
        entries: [draft(), draft({ tags: [`🌍${'x'.repeat(130)}`] })],
        atomic: false,
      })
      expect(results[1]).toMatchObject({ success: false, error: expect.stringMatching(/too long: it has 131 .*128/) })
    })

    it('makes the vectors again when the title changes', async () => {
      const thread_id = unique()
      const id = await s.store('The crew agreed on it.', { thread_id, metadata: { title: 'Harbour lights' } })
      await s.store('Another matter, of the orchard.', { thread_id })
      const nearest = async (query: string) =>
        (await s.ok('semantic_search_context', { query, thread_id })).results.map(
          (one: { id: number; scores: { semantic_distance: number } }) => [one.id, one.scores.semantic_distance],
        )
      const [[first, before]] = await nearest('harbour lights')
      expect(first).toBe(id)
      const same = await s.ok('update_context', { context_id: id, metadata_patch: { title: 'Harbour lights' } })
      expect(same.updated_fields).toEqual(['metadata'])
      const changed = await s.ok('update_context', { context_id: id, metadata_patch: { title: 'Winter tyres' } })
      expect(changed).toMatchObject({
        updated_fields: ['metadata', 'embedding'],
        message: 'Successfully updated 2 field(s) (embedding regenerated)',
      })
      expect((await nearest('winter tyres'))[0]?.[0]).toBe(id)
      const [, after] = (await nearest('harbour lights')).find(([one]: [number, number]) => one === id)
      expect(after).toBeGreaterThan(before)
      expect((await s.ok('fts_search_context', { query: 'tyres', thread_id })).results[0].id).toBe(id)
    })

    it('makes the vectors again when a repeated store has another title', async () => {
      const args = draft({ text: 'The crew agreed on it.', metadata: { title: 'Harbour lights' } })
      const { context_id } = await s.ok('store_context', args)
      await s.ok('store_context', { ...args, metadata: { title: 'Winter tyres' } })
      const { results } = await s.ok('semantic_search_context', { query: 'winter tyres', thread_id: args.thread_id })
      expect(results[0]).toMatchObject({ id: context_id })
      expect(results[0].scores.semantic_distance).toBeLessThan(1.2)
    })

    it('[THREADS-48] changes the given fields, leaves the others and lists the fields in order', async () => {
      const id = await s.store('old', { metadata: { a: 1 }, tags: ['x'] })
      const all = await s.ok('update_context', {
        context_id: String(id),
        text: ' new ',
        metadata: { b: null },
        tags: ['Y'],
        images: [],
      })
      expect(all).toEqual({
        success: true,
        context_id: id,
        version: 2,
        updated_fields: ['text_content', 'metadata', 'tags', 'images', 'content_type', 'embedding'],
        message: 'Successfully updated 6 field(s) (embedding regenerated)',
      })
      expect(await get(id)).toMatchObject({ text_content: 'new', metadata: { b: null }, tags: ['y'], version: 2 })
      await s.ok('update_context', { context_id: id, tags: [] })
      expect(await get(id)).toMatchObject({ text_content: 'new', metadata: { b: null }, tags: [] })
      expect((await s.ok('fts_search_context', { query: 'old', thread_id: (await get(id)).thread_id })).count).toBe(0)
    })

    it('[THREADS-51] patches metadata by RFC 7396 at every depth', async () => {
      // The examples of RFC 7396, appendix A, where both sides are objects; every key is also tried in a guarded update.
      const cases: [object, object, object][] = [
        [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
        [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
        [{ a: 'b' }, { a: null }, {}],
        [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
        [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
        [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
        [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
        [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
        [{ e: null }, { a: 1 }, { e: null, a: 1 }],
        [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
        [{ a: 1 }, { a: { x: { y: null, z: 1 } } }, { a: { x: { z: 1 } } }],
      ]
      for (const [target, patch, expected] of cases) {
        const [plain, guarded] = [await s.store('x', { metadata: target }), await s.store('x', { metadata: target })]
        const result = await s.ok('update_context', { context_id: plain, metadata_patch: patch })
        expect(result).toMatchObject({ version: 2, updated_fields: ['metadata'] })
        await s.ok('update_context', { context_id: guarded, metadata_patch: patch, tags: ['t'] })
        expect((await get(plain)).metadata).toEqual(expected)
        expect((await get(guarded)).metadata).toEqual(expected)
      }
    })

    it('[THREADS-52] starts a patch of absent metadata from an empty object and accepts an empty patch', async () => {
      const id = await s.store('x')
      await s.ok('update_context', { context_id: id, metadata_patch: { status: 'done', other: null } })
      expect((await get(id)).metadata).toEqual({ status: 'done' })
      const empty = await s.ok('update_context', { context_id: id, metadata_patch: {} })
      expect(empty).toMatchObject({ version: 3, updated_fields: ['metadata'] })
    })

    it('[THREADS-56] refuses an update without fields, with both kinds of metadata, and of an unknown id', async () => {
      const id = await s.store('x')
      const nothing = 'At least one field must be provided for update'
      expect(await message('update_context', { context_id: id })).toBe(nothing)
      expect(await message('update_context', { context_id: id, text: null, tags: null })).toBe(nothing)
      expect(await message('update_context', { context_id: id, metadata: {}, metadata_patch: {} })).toBe(
        'Cannot use both metadata and metadata_patch',
      )
      const missing = 'Context entry with ID 987654321 not found'
      expect(await message('update_context', { context_id: 987_654_321, text: 'x' })).toBe(missing)
      expect(await message('update_context', { context_id: 987_654_321, metadata_patch: { a: 1 } })).toBe(missing)
      expect(await message('update_context', { context_id: id, text: '   ' })).toMatch(/blank|empty/)
      expect((await get(id)).version).toBe(1)
    })

    it('[THREADS-54] applies fifty simultaneous patches of different keys', async () => {
      const id = await s.store('x', { metadata: { kept: 1 } })
      const keys = Array.from({ length: 50 }, (_, i) => `k${i}`)
      await Promise.all(keys.map((key) => s.ok('update_context', { context_id: id, metadata_patch: { [key]: key } })))
      expect((await get(id)).metadata).toEqual({ kept: 1, ...Object.fromEntries(keys.map((key) => [key, key])) })
    })

    it('[THREADS-58] deletes by ids or thread, counts duplicates once and unknown ids as 0', async () => {
      const thread_id = unique()
      const ids = [
        await s.store('a', { thread_id }),
        await s.store('b', { thread_id }),
        await s.store('c', { thread_id }),
      ]
      expect(await s.ok('delete_context', { context_ids: [ids[0], ids[0], 123_456_789] })).toEqual({
        success: true,
        deleted_count: 1,
        message: 'Successfully deleted 1 context entries',
        change_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        restorable_until: expect.stringMatching(/Z$/),
      })
      expect(await s.ok('delete_context', { context_ids: [123_456_789] })).toMatchObject({
        deleted_count: 0,
        warnings: [expect.stringMatching(/^Nothing was deleted/)],
      })
      const near = `${thread_id}-x`
      const look = await s.ok('delete_context', { thread_id: near, dry_run: true })
      expect([look.would_delete, look.warnings]).toEqual([0, [expect.stringContaining(`"${thread_id}"`)]])
      const args = { thread_id: near, idempotency_key: unique() }
      const missed = await s.ok('delete_context', args)
      expect(missed).toMatchObject({ deleted_count: 0, warnings: look.warnings })
      expect(await s.ok('delete_context', args)).toEqual({ ...missed, replayed: true })
      expect((await s.ok('delete_context_batch', { thread_ids: [near] })).warnings).toEqual(look.warnings)
      const deleted = await s.ok('delete_context', { thread_id })
      expect([deleted.deleted_count, deleted.warnings]).toEqual([2, undefined])
      expect((await s.ok('delete_context', { thread_id })).deleted_count).toBe(0)
      expect((await s.ok('get_context_by_ids', { context_ids: ids })).missing).toEqual(ids)
    })

    it('[THREADS-57] refuses a delete with neither or both of its arguments', async () => {
      expect(await message('delete_context', {})).toBe('Must provide either context_ids or thread_id')
      expect(await message('delete_context', { context_ids: [1], thread_id: 't' })).toBe(
        'context_ids and thread_id are mutually exclusive',
      )
      expect(await message('delete_context', { context_ids: [] })).toMatch(/context_ids must have at least 1/)
    })

    it('[THREADS-62] stores an atomic batch completely or not at all and names the first bad entry', async () => {
      const thread_id = unique()
      const entry = (text: unknown) => ({ thread_id, source: 'user', text })
      const { data } = await s.fail('store_context_batch', {
        entries: [entry('a'), entry('  '), { thread_id, text: 'x' }],
      })
      expect(data.error.message).toBe(
        'Validation failed for 2 entries. First error at index 1: text cannot be empty or whitespace',
      )
      expect(data.results.map(({ index, success }: { index: number; success: boolean }) => [index, success])).toEqual([
        [1, false],
        [2, false],
      ])
      expect((await s.ok('search_context', { thread_id })).total).toBe(0)
      const stored = await s.ok('store_context_batch', { entries: [entry('a'), entry('b')] })
      expect(stored).toMatchObject({ success: true, total: 2, succeeded: 2, failed: 0 })
      expect(stored.message).toBe('Stored 2/2 entries successfully (embeddings generated)')
      expect((await s.ok('search_context', { thread_id })).results.map(({ id }: { id: number }) => id)).toEqual(
        stored.results.map(({ context_id }: { context_id: number }) => context_id).reverse(),
      )
    })

    it('[THREADS-63] stores the good entries of a batch that is not atomic and reports the bad ones', async () => {
      const thread_id = unique()
      const entries = [{ thread_id, source: 'user', text: 'good' }, 5, { thread_id, source: 'x', text: 'y' }]
      const result = await s.ok('store_context_batch', { entries, atomic: 'false' })
      expect(result).toMatchObject({ success: false, total: 3, succeeded: 1, failed: 2 })
      expect(result.message).toBe('Stored 1/3 entries successfully (embeddings generated)')
      expect(result.results[0]).toEqual({
        index: 0,
        success: true,
        context_id: expect.any(Number),
        error: null,
        code: null,
      })
      expect(result.results[2]).toMatchObject({ index: 2, success: false, context_id: null, code: 'invalid_input' })
      const none = await s.ok('store_context_batch', { entries: [{}], atomic: false })
      expect(none).toMatchObject({ success: false, message: 'All entries failed validation' })
    })

    it('[THREADS-35] returns one id for two equal entries of one batch', async () => {
      const entry = draft()
      const { results } = await s.ok('store_context_batch', { entries: [entry, entry] })
      expect(results[0].context_id).toBe(results[1].context_id)
      expect(results.every(({ success }: { success: boolean }) => success)).toBe(true)
    })

    it('[THREADS-62] applies an atomic batch of updates completely or not at all and names the first bad id', async () => {
      const id = await s.store('x')
      const updates = [
        { context_id: id, text: 'y' },
        { context_id: 55_555_555, text: 'z' },
      ]
      const { data } = await s.fail('update_context_batch', { updates })
      expect(data.error.message).toBe(
        'Validation failed for 1 entries. First error at context_id 55555555: Context entry with ID 55555555 not found',
      )
      expect((await get(id)).text_content).toBe('x')
    })

    it('[THREADS-63] applies the good updates of a batch that is not atomic, and several updates of one id in order', async () => {
      const id = await s.store('x')
      const result = await s.ok('update_context_batch', {
        atomic: false,
        updates: [
          { context_id: id, metadata_patch: { n: 1 } },
          { context_id: id, metadata_patch: { n: 2, m: 1 }, tags: ['t'] },
          { context_id: id },
          { text: 'no id' },
        ],
      })
      expect(result).toMatchObject({
        success: false,
        succeeded: 2,
        failed: 2,
        message: 'Updated 2/4 entries successfully',
      })
      expect(result.results[1]).toMatchObject({ context_id: id, updated_fields: ['metadata', 'tags'] })
      expect(result.results[3]).toMatchObject({ context_id: null, error: 'Missing required field: context_id' })
      expect(await get(id)).toMatchObject({ metadata: { n: 2, m: 1 }, tags: ['t'], version: 3 })
    })

    it('[THREADS-65] deletes by joined criteria and lists the criteria', async () => {
      const [a, b] = [unique(), unique()]
      for (const thread_id of [a, b])
        for (const source of ['user', 'agent']) await s.store(`by ${source}`, { thread_id, source })
      expect(await s.ok('delete_context_batch', { thread_ids: [a, b], source: 'agent', context_ids: [] })).toEqual({
        success: true,
        deleted_count: 2,
        criteria_used: ['thread_ids: 2 threads', 'source: agent'],
        message: 'Successfully deleted 2 context entries',
        change_id: expect.any(String),
        restorable_until: expect.any(String),
      })
      expect((await s.ok('delete_context_batch', { thread_ids: [a], older_than_days: 1 })).deleted_count).toBe(0)
      expect((await s.ok('search_context', { thread_id: a })).total).toBe(1)
    })

    it('[THREADS-66] refuses a delete without criteria or with a source alone', async () => {
      expect(await message('delete_context_batch', {})).toBe('At least one deletion criterion must be provided')
      expect(await message('delete_context_batch', { context_ids: [], thread_ids: [] })).toMatch(/At least one/)
      expect(await message('delete_context_batch', { source: 'user' })).toBe(
        'source filter must be combined with another criterion',
      )
      expect(await message('delete_context_batch', { older_than_days: 0 })).toMatch(/older_than_days/)
      expect(await message('delete_context_batch', { older_than_days: 36_501 })).toMatch(/36500/)
    })
  })
}
