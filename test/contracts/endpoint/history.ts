import { beforeAll, describe, expect, it } from 'vitest'
import { TOOLS } from '../../../src/tools/catalogue'
import type { Team } from '../../support/access'
import { base64, pngBytes } from '../../support/scope'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** Versions, retries and undo as agents have them (history contract §1–3). */
export function historyEndpointContract(): void {
  describe('history on the wire', () => {
    let team: Team
    let org: string
    let ada: string
    let eve: string
    let narrow: string
    beforeAll(async () => {
      team = await sharedTeam()
      org = unique('org')
      ada = (await team.key(org, { name: 'ada', agent: 'ci-bot', owner: 'ada' })).key
      eve = (await team.key(org, { name: 'eve', owner: 'eve' })).key
      narrow = (await team.key(org, { name: 'narrow', projects: ['p'], owner: 'nat' })).key
    })

    const ok = async (name: string, args: Json = {}, bearer = ada): Promise<Json> => {
      const { data, isError, text } = await team.call(bearer, name, args)
      if (isError) throw new Error(`${name} failed: ${text}`)
      return data
    }
    const fail = async (name: string, args: Json = {}, bearer = ada): Promise<Json> => {
      const { data, isError, text } = await team.call(bearer, name, args)
      if (!isError) throw new Error(`${name} should fail, but answered ${text}`)
      return typeof data.error === 'string' ? data : data.error
    }
    const store = async (text: string, args: Json = {}, bearer = ada): Promise<number> =>
      (await ok('store_context', { thread_id: unique(), source: 'user', text, ...args }, bearer)).context_id
    const read = async (id: number, args: Json = {}, bearer = ada) =>
      (await ok('get_context_by_ids', { context_ids: [id], ...args }, bearer)).result[0]
    const versions = async (id: number, args: Json = {}, bearer = ada) =>
      ok('get_context_history', { context_id: id, ...args }, bearer)

    it('warns that an entry stored after its expiry is never shown, and warns again when the call is repeated', async () => {
      const [past, later] = ['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z'].map((at) => ({ expires_at: at }))
      const entry = (metadata: Json) => ({ thread_id: unique(), source: 'user', text: unique(), metadata })
      const writes = (metadata: Json): [string, Json][] => [
        ['store_context', entry(metadata)],
        ['store_context_batch', { entries: [entry({}), entry(metadata)] }],
        ['remember', { title: unique(), content: unique(), metadata }],
        ['context_store', { type: 'decision', content: unique(), metadata }],
      ]
      const told = [expect.stringMatching(/^metadata\.expires_at has passed, so this cannot be found or read/)]
      for (const [tool, args] of writes(past)) {
        const call = { ...args, idempotency_key: unique() }
        const first = await ok(tool, call)
        expect([tool, first.warnings]).toEqual([tool, told])
        expect(await ok(tool, call)).toEqual({ ...first, replayed: true })
      }
      const id = await store(unique())
      expect((await ok('update_context', { context_id: id, metadata_patch: past })).warnings).toEqual(told)
      for (const [tool, args] of writes(later)) expect((await ok(tool, args)).warnings).toBeUndefined()
    })

    it('warns that a changed entry stays archived, once per call, and warns again when the call is repeated', async () => {
      const [one, other, listed] = [await store(unique()), await store(unique()), await store(unique())]
      await team.server.sql(`UPDATE entries SET archived = 1 WHERE id IN (${one}, ${other})`)
      const told = (ids: string, them: string) => [
        `${ids} archived: searches, lists and packs leave ${them} out until context_update restores ${them}`,
      ]
      const twice = async (tool: string, args: Json) => {
        const call = { ...args, idempotency_key: unique() }
        const first = await ok(tool, call)
        expect(await ok(tool, call)).toEqual({ ...first, replayed: true })
        return first.warnings
      }
      const alone = told(`Entry ${one} is`, 'it')
      expect(await twice('update_context', { context_id: one, metadata_patch: { plain: 1 } })).toEqual(alone)
      expect(await twice('update_context', { context_id: one, text: unique() })).toEqual(alone)
      const updates = [one, other, one, listed].map((context_id) => ({ context_id, tags: [unique()] }))
      expect(await twice('update_context_batch', { updates })).toEqual(told(`Entries ${one}, ${other} are`, 'them'))
      expect(await twice('update_context', { context_id: listed, metadata_patch: { plain: 1 } })).toBeUndefined()
      const { change_id } = await ok('delete_context', { context_ids: [one, listed] })
      expect(await twice('restore_context', { change_id })).toEqual(alone)
      await ok('context_update', { memoryId: one, metadata: {} })
      expect(await twice('update_context', { context_id: one, metadata_patch: { plain: 2 } })).toBeUndefined()
    })

    it('[HISTORY-2] refuses a change of an entry with another version than expected, and reports the present version', async () => {
      const id = await store('one')
      await ok('update_context', { context_id: id, text: 'two', expected_version: 1 })
      const at = (await versions(id)).versions[0].at
      const expected = {
        code: 'conflict',
        message: `Entry ${id} is at version 2, not 1 (changed by ci-bot, ${at}). Read it and try again.`,
        retryable: false,
        details: { context_id: id, expected_version: 1, current_version: 2, updated_at: at, agent: 'ci-bot' },
      }
      const stale = { context_id: id, metadata_patch: { a: 1 }, expected_version: 1 }
      expect(await fail('update_context', stale)).toEqual(expected)
      expect(await fail('delete_context', { context_ids: [id], expected_version: 1 })).toEqual(expected)
      // Also where there is nothing to restore, or no such version is retained.
      for (const version of [{}, { version: 9 }])
        expect(await fail('restore_context', { context_ids: [id], expected_version: 1, ...version })).toEqual(expected)
      const batch = await fail('update_context_batch', { updates: [{ context_id: id, tags: ['x'] }, stale] })
      expect(batch).toMatchObject({ code: 'conflict', details: { ...expected.details, current_version: 3 } })
      expect(await fail('context_update', { memoryId: String(id), content: 'x', expected_version: 1 })).toMatchObject({
        code: 'CONFLICT',
        details: expected.details,
      })
      expect((await fail('context_delete', { memoryId: String(id), expected_version: 1 })).code).toBe('CONFLICT')
      expect(await fail('delete_context', { context_ids: [987_654_321], expected_version: 1 })).toMatchObject({
        code: 'not_found',
      })
      for (const [tool, args] of [
        ['update_context', { context_id: 987_654_321, text: 'x' }],
        ['update_context_batch', { updates: [{ context_id: 987_654_321, text: 'x', expected_version: 1 }] }],
        ['context_update', { memoryId: '987654321', content: 'x' }],
        ['context_delete', { memoryId: '987654321' }],
      ] as [string, Json][]) {
        const unknown = await fail(tool, args.updates ? args : { ...args, expected_version: 1 })
        expect([tool, unknown.code.toLowerCase()]).toEqual([tool, 'not_found'])
      }
      for (const args of [
        { context_ids: [id, id + 1], expected_version: 1 },
        { thread_id: 't', expected_version: 1 },
        { context_ids: [id], expected_version: 0 },
        { context_ids: [id], expected_version: 1.5 },
      ])
        expect((await fail('delete_context', args)).code).toBe('invalid_input')
      expect(await read(id)).toMatchObject({ version: 2, tags: [], text_content: 'two' })
    })

    it('[HISTORY-4] lets exactly one of several calls with the same expected version succeed', async () => {
      const id = await store('race')
      const tries = Array.from({ length: 8 }, (_, i) =>
        team.call(ada, 'update_context', { context_id: id, text: `by ${i}`, expected_version: 1 }),
      )
      const answers = await Promise.all(tries)
      expect(answers.filter(({ isError }) => !isError)).toHaveLength(1)
      expect(await read(id)).toMatchObject({ version: 2 })
    })

    it('[HISTORY-8] answers a repeated call with its key as the first time, and changes nothing', async () => {
      const args = {
        thread_id: unique(),
        source: 'agent',
        text: 'once',
        metadata: { b: 1, a: 2 },
        idempotency_key: unique(),
      }
      const first = await ok('store_context', args)
      const { next } = await ok('list_changes')
      const again = await ok('store_context', { ...args, metadata: { a: 2, b: 1 } })
      expect(again).toEqual({ ...first, replayed: true })
      expect((await ok('list_changes', { after: next })).changes).toEqual([])
      const key = unique()
      const change = { context_id: first.context_id, metadata_patch: { n: 1 }, idempotency_key: key }
      const changed = await ok('update_context', change)
      expect(await ok('update_context', change)).toEqual({ ...changed, replayed: true })
      const memory = { memoryId: String(first.context_id), content: 'twice', idempotency_key: unique() }
      const updated = await ok('context_update', memory)
      await ok('update_context', { context_id: first.context_id, text: 'thrice' })
      expect(await ok('context_update', memory)).toEqual({ ...updated, replayed: true })
      const drop = { context_ids: [first.context_id], idempotency_key: unique() }
      const dropped = await ok('delete_context', drop)
      expect(dropped.deleted_count).toBe(1)
      expect(await ok('delete_context', drop)).toEqual({ ...dropped, replayed: true })
      const batch = {
        entries: [
          { thread_id: 'kb', source: 'user', text: 'good' },
          { thread_id: 'kb', source: 'user', text: ' ' },
        ],
        ...{ atomic: false, idempotency_key: unique() },
      }
      const stored = await ok('store_context_batch', batch)
      expect(await ok('store_context_batch', batch)).toEqual({ ...stored, replayed: true })
    })

    it('[HISTORY-6] accepts a key on every tool that writes, and on no other', async () => {
      for (const { name, annotations, inputSchema } of TOOLS)
        expect([name, 'idempotency_key' in (inputSchema.properties as object)]).toEqual([
          name,
          !annotations.readOnlyHint,
        ])
    })

    it('[HISTORY-9] refuses a key that belongs to another call, and stores no receipt of a failed call', async () => {
      const args = { thread_id: unique(), source: 'agent', text: 'a', idempotency_key: unique() }
      await fail('store_context', { ...args, text: ' ' })
      const { context_id: id } = await ok('store_context', args)
      expect(await fail('store_context', { ...args, text: 'b' })).toMatchObject({ code: 'conflict', retryable: false })
      expect(await fail('delete_context', { context_ids: [id], idempotency_key: args.idempotency_key })).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('store_context'),
      })
      for (const wrong of ['a b', 'ä', 'x'.repeat(129)])
        expect(await fail('store_context', { ...args, idempotency_key: wrong })).toMatchObject({
          code: 'invalid_input',
        })
      await ok('store_context', { ...args, thread_id: unique(), idempotency_key: `${unique()}~`.padEnd(128, '!') })
      // A call that failed because an entry was missing succeeds once it is restored.
      const patch = { context_id: id, metadata_patch: { n: 1 }, idempotency_key: unique() }
      const batch = { updates: [patch, patch].map(({ idempotency_key: _, ...one }) => one), atomic: false }
      const keyed = { ...batch, idempotency_key: unique() }
      const gone = { memoryId: String(id), idempotency_key: unique() }
      await ok('delete_context', { context_ids: [id] })
      expect((await fail('update_context', patch)).code).toBe('not_found')
      expect((await fail('context_delete', gone)).code).toBe('NOT_FOUND')
      expect(await ok('update_context_batch', keyed)).toMatchObject({ success: false, succeeded: 0 })
      await ok('restore_context', { context_ids: [id] })
      expect(await ok('update_context', patch)).toMatchObject({ version: 4 })
      expect(await ok('update_context_batch', keyed)).toMatchObject({ success: true, succeeded: 2 })
      expect(await ok('context_delete', gone)).toMatchObject({ success: true, deletedFrom: 2 })
    })

    it('[HISTORY-10] has one effect for simultaneous calls with one key, and returns one answer to them', async () => {
      const args = { thread_id: unique(), source: 'agent', text: 'at once', idempotency_key: unique() }
      const answers = await Promise.all(Array.from({ length: 6 }, () => ok('store_context', args)))
      for (const { replayed: _, ...answer } of answers) expect(answer).toEqual({ ...answers[0], replayed: undefined })
      expect((await read(answers[0].context_id)).version).toBe(1)
      expect((await ok('search_context', { thread_id: args.thread_id })).total).toBe(1)
    })

    it('[HISTORY-8] answers again if the server stopped between the write and its answer', async () => {
      const thread_id = unique()
      const one = { thread_id, source: 'agent', text: 'lost', idempotency_key: unique() }
      const two = {
        updates: [
          { context_id: 0, tags: ['a'] },
          { context_id: 0, tags: ['b'] },
        ],
        idempotency_key: unique(),
      }
      const first = await ok('store_context', one)
      for (const update of two.updates) update.context_id = first.context_id
      const second = await ok('update_context_batch', two)
      const drop = { thread_id, idempotency_key: unique() }
      const third = await ok('delete_context', drop)
      const repeats = async () => [
        await ok('store_context', one),
        await ok('update_context_batch', two),
        await ok('delete_context', drop),
      ]
      expect(await repeats()).toEqual([first, second, third].map((answer) => ({ ...answer, replayed: true })))
    })

    it('[HISTORY-12] separates the keys of different credentials', async () => {
      const args = { thread_id: unique(), source: 'agent', text: 'mine', idempotency_key: 'shared' }
      const { context_id: a } = await ok('store_context', args)
      const { context_id: b } = await ok('store_context', { ...args, thread_id: unique() }, eve)
      expect(a).not.toBe(b)
    })

    it('[HISTORY-19] lists the versions of an entry, newest first, with changes and author, and returns one completely', async () => {
      const same = { thread_id: unique(), text: 'the same', tags: ['a'], metadata: { k: 1 } }
      const twice = [await store('', same), await store('', same)]
      expect((await versions(twice[1] as number)).versions).toMatchObject([{ version: 2, changed: [] }, { version: 1 }])
      expect(twice[0]).toBe(twice[1])
      const id = await store('first', { metadata: { k: 1 }, tags: ['a'] })
      await ok('update_context', { context_id: id, metadata_patch: { k: 2 } }, eve)
      await ok('update_context', { context_id: id, text: 'second', tags: ['b'] })
      await ok('delete_context', { context_ids: [id] })
      const history = await versions(id)
      expect(history).toMatchObject({
        context_id: id,
        current_version: 4,
        deleted: true,
        total: 4,
        limit: 20,
        offset: 0,
      })
      expect(history.versions).toMatchObject([
        { version: 4, action: 'deleted', agent: 'ci-bot', changed: [], preview: '' },
        { version: 3, action: 'updated', agent: 'ci-bot', changed: ['text', 'tags'], preview: 'second' },
        { version: 2, action: 'updated', changed: ['metadata'], preview: 'first' },
        { version: 1, action: 'stored', agent: 'ci-bot', changed: [], preview: 'first' },
      ])
      expect((await versions(id, { version: 2 })).result[0]).toMatchObject({
        ...{ id, version: 2, text_content: 'first', metadata: { k: 2 }, tags: ['a'] },
      })
      expect(await versions(id, { limit: 1, offset: 1 })).toMatchObject({ versions: [{ version: 3 }], hasMore: true })
      const nothing = await fail('get_context_history', { context_id: 987_654_321 })
      expect(nothing.code).toBe('not_found')
      expect((await fail('get_context_history', { context_id: id, version: 9 })).message).toBe(
        nothing.message.replace('987654321', String(id)),
      )
    })

    it('[HISTORY-14] retains the state before each change of text, metadata, tags, images and kind, with its author, as it was read then', async () => {
      const image = () => ({ data: base64(pngBytes(unique())), mime_type: 'image/png' })
      const id = await store('a '.repeat(400), { images: [image()], metadata: { kind: 'idea', k: 1 }, tags: ['a'] })
      const states = [await read(id)]
      for (const change of [
        { images: [image(), image()] },
        { metadata_patch: { kind: 'plan' } },
        { tags: ['b'] },
        { text: 'another' },
        { images: [] },
      ]) {
        await ok('update_context', { context_id: id, ...change }, eve)
        states.push(await read(id))
      }
      await ok('context_update', { memoryId: String(id), targetLayer: 3 })
      const { versions: all, limit } = await versions(id, { limit: 1000 })
      expect(limit).toBe(100)
      expect(all.map(({ changed }: Json) => changed)).toEqual([
        ...[['layer'], ['images'], ['text'], ['tags'], ['metadata', 'kind'], ['images'], []],
      ])
      // The first and the last by one key, those between by another, which names no agent.
      const makers = all.map(({ key_id, agent }: Json) => `${key_id} ${agent}`)
      expect(makers).toEqual([makers[0], ...Array(5).fill(makers[1]), makers[0]])
      expect([makers[0] === makers[1], makers[0].split(' ')[1], makers[1].split(' ')[1]]).toEqual([
        ...[false, 'ci-bot', 'undefined'],
      ])
      expect([...all[6].preview].length).toBe(160)
      for (const [i, state] of states.entries())
        expect((await versions(id, { version: i + 1 })).result).toEqual([state])
      // Each comes back with its images.
      await ok('restore_context', { context_ids: [id], version: 2 })
      expect((await read(id)).images.map(({ sha256 }: Json) => sha256)).toEqual(
        states[1].images.map(({ sha256 }: Json) => sha256),
      )
    })

    it('[HISTORY-17] shows the images of an old state only to those to whom that state was visible', async () => {
      const image = { data: base64(pngBytes(unique())), mime_type: 'image/png' }
      const id = await store('mine', { images: [image], metadata: { audience: 'private' } })
      const url = `/images/${(await read(id)).images[0].sha256}`
      await ok('update_context', { context_id: id, images: [], metadata_patch: { audience: 'org' } })
      expect(await read(id, {}, eve)).toMatchObject({ text_content: 'mine', version: 2 })
      const seen = async () => [(await team.ask(url, ada)).status, (await team.ask(url, eve)).status]
      expect(await seen()).toEqual([200, 404])
      await ok('delete_context', { context_ids: [id] })
      expect(await seen()).toEqual([200, 404])
    })

    it('[HISTORY-19] lets readers read history, and only writers restore', async () => {
      const { key: reader } = await team.key(org, { name: 'looks', role: 'reader', owner: 'lou' })
      const id = await store('read by all')
      await ok('delete_context', { context_ids: [id] })
      const before = (await versions(id, {}, reader)).total
      for (const args of [{ context_ids: [id] }, { context_ids: [id], version: 1 }, { change_id: 'x' }])
        expect((await fail('restore_context', args, reader)).code).toBe('forbidden')
      for (const args of [{ context_ids: [id] }, { context_ids: [id], erase: true }])
        expect((await fail('delete_context', args, reader)).code).toBe('forbidden')
      expect(await versions(id, {}, reader)).toMatchObject({ total: before, deleted: true })
      expect((await read(id, { as_of: (await versions(id)).versions[1].at }, reader)).text_content).toBe('read by all')
    })

    it('[HISTORY-20] shows the change of a text, within bounds for any texts', async () => {
      const id = await store('a\nb\nc')
      await ok('update_context', { context_id: id, text: 'a\nB\nc' })
      await ok('update_context', { context_id: id, text: 'x'.repeat(900_000) })
      await ok('update_context', { context_id: id, text: 'x'.repeat(899_999) })
      await ok('update_context', { context_id: id, text: Array.from({ length: 99_000 }, (_, i) => i).join('\n') })
      const { versions: all } = await versions(id, { include_diff: true })
      expect(all[3].diff).toContain('-b\n+B\n')
      expect(all[0].diff).toMatch(/^--- version 4\n\+\+\+ version 5\n@@ -1,1 \+1,20000 @@\n-x/)
      expect(all[0].diff.length).toBeLessThan(20_100)
      expect(all[1].diff.length).toBeLessThan(20_100)
      expect(all[4].diff).toBeUndefined()
    })

    it('[HISTORY-17] shows an old state only to those to whom it was visible', async () => {
      const id = await store('for all', { metadata: { project: 'q' } })
      await ok('update_context', { context_id: id, text: 'mine alone', metadata_patch: { audience: 'private' } })
      await ok('update_context', { context_id: id, metadata_patch: { audience: 'org', project: 'p' }, text: 'for p' })
      const seen = async (bearer: string) =>
        (await versions(id, {}, bearer)).versions.map(({ version }: Json) => version)
      expect(await seen(ada)).toEqual([3, 2, 1])
      expect(await seen(eve)).toEqual([3, 1])
      expect(await seen(narrow)).toEqual([3])
      expect((await fail('get_context_history', { context_id: id, version: 2 }, eve)).code).toBe('not_found')
      const page = await store('dear diary', { metadata: { diary: true } })
      await ok('update_context', { context_id: page, text: 'dear diary, again' })
      expect(await seen(ada)).toEqual([3, 2, 1])
      expect((await versions(page)).total).toBe(2)
      expect((await fail('get_context_history', { context_id: page }, eve)).code).toBe('not_found')
      await ok('delete_context', { context_ids: [page] })
      expect((await ok('restore_context', { context_ids: [page] }, eve)).skipped).toEqual([
        { context_id: page, reason: 'not found' },
      ])
    })

    it('reports when only the requested version is not retained', async () => {
      const id = await store('in its present state')
      await ok('delete_context', { context_ids: [id] })
      await ok('restore_context', { context_ids: [id] })
      for (const version of [2, 9]) {
        expect((await fail('get_context_history', { context_id: id, version })).message).toBe(
          `Entry ${id} has no such history`,
        )
        expect((await ok('restore_context', { context_ids: [id], version })).skipped).toEqual([
          { context_id: id, reason: `version ${version} is not retained` },
        ])
      }
      expect((await ok('restore_context', { context_ids: [id], version: 3 })).skipped).toEqual([
        { context_id: id, reason: 'it is already at version 3' },
      ])
      const [never] = (await ok('restore_context', { context_ids: [987_654_321], version: 1 })).skipped
      expect(never.reason).toBe('not found')
    })

    it('[HISTORY-22] returns entries as they were at an instant, and refuses an instant before the retained time', async () => {
      const id = await store('early')
      await ok('update_context', { context_id: id, text: 'late' })
      await ok('delete_context', { context_ids: [id] })
      const [gone, second, first] = (await versions(id)).versions
      const then = async (as_of: string) => ok('get_context_by_ids', { context_ids: [id], as_of })
      expect((await then(first.at)).result.map(({ version }: Json) => version)).toEqual([
        second.at === first.at ? 2 : 1,
      ])
      expect((await then(gone.at)).missing).toEqual([id])
      expect((await then(new Date(Date.parse(first.at) - 60_000).toISOString())).missing).toEqual([id])
      expect(await fail('get_context_by_ids', { context_ids: [id], as_of: '2020-01-01' })).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('the oldest retained version'),
      })
      const kept = await store('standing')
      expect(
        (await ok('get_context_by_ids', { context_ids: [kept], as_of: new Date().toISOString() })).result,
      ).toMatchObject([{ id: kept, text_content: 'standing' }])
    })

    it('[HISTORY-24] restores deleted entries under their ids, and the next search in all modes finds them', async () => {
      const other = await store('the other end')
      const image = { data: base64(pngBytes(unique())), mime_type: 'image/png' }
      const thread_id = unique()
      const id = await store('a zeppelin over the lagoon', {
        ...{ thread_id, tags: ['t'], images: [image] },
        metadata: { project: 'p', references: { context_ids: [other] } },
      })
      const before = await read(id)
      await ok('delete_context', { context_ids: [id] })
      const url = `/images/${before.images[0].sha256}`
      expect((await team.ask(url, ada)).status).toBe(200)
      expect(await ok('restore_context', { context_ids: [id], expected_version: 2 })).toEqual({
        ...{ success: true, restored: [{ context_id: id, version: 3 }], skipped: [], remaining: 0 },
      })
      const after = await read(id)
      expect(after).toEqual({ ...before, version: 3, updated_at: after.updated_at })
      for (const tool of ['fts_search_context', 'semantic_search_context', 'hybrid_search_context'])
        expect(
          (await ok(tool, { query: 'zeppelin lagoon', thread_id })).results.map(({ id: found }: Json) => found),
        ).toEqual([id])
      expect((await ok('search_context', { thread_id })).total).toBe(1)
      expect((await versions(id)).versions[0]).toMatchObject({ version: 3, action: 'restored', agent: 'ci-bot' })
      expect((await ok('restore_context', { context_ids: [id] })).skipped).toEqual([
        { context_id: id, reason: 'not deleted' },
      ])
    })

    it('[HISTORY-25] makes an older version the newest one', async () => {
      const thread_id = unique()
      const id = await store('an amber compass', { thread_id, metadata: { k: 1 }, tags: ['old'] })
      await ok('update_context', { context_id: id, text: 'a copper kettle', metadata: { k: 2 }, tags: ['new'] })
      expect((await fail('restore_context', { context_ids: [id], version: 1, expected_version: 1 })).code).toBe(
        'conflict',
      )
      expect((await ok('restore_context', { context_ids: [id], version: 1, expected_version: 2 })).restored).toEqual([
        { context_id: id, version: 3 },
      ])
      expect(await read(id)).toMatchObject({
        version: 3,
        text_content: 'an amber compass',
        metadata: { k: 1 },
        tags: ['old'],
      })
      const found = await ok('fts_search_context', { query: 'compass', thread_id })
      expect(found.results.map(({ id: one }: Json) => one)).toEqual([id])
      expect((await ok('fts_search_context', { query: 'kettle', thread_id })).results).toEqual([])
      expect((await versions(id)).versions[0]).toMatchObject({
        action: 'restored',
        changed: ['text', 'metadata', 'tags'],
      })
    })

    it('[HISTORY-27] undoes all deletions of one call, by its change_id', async () => {
      const thread_id = unique()
      const entries = Array.from({ length: 40 }, (_, i) => ({ thread_id, source: 'user', text: `entry ${i} of undo` }))
      await ok('store_context_batch', { entries })
      const { change_id, deleted_count, restorable_until } = await ok('delete_context', { thread_id })
      expect([deleted_count, Date.parse(restorable_until) > Date.now()]).toEqual([40, true])
      const key = unique()
      const back = await ok('restore_context', { change_id, idempotency_key: key })
      expect([back.restored.length, back.remaining]).toEqual([40, 0])
      expect(await ok('restore_context', { change_id, idempotency_key: key })).toEqual({ ...back, replayed: true })
      expect((await ok('search_context', { thread_id })).total).toBe(40)
      expect((await ok('semantic_search_context', { query: 'entry 7 of undo', thread_id, limit: 40 })).count).toBe(40)
      const again = await ok('restore_context', { change_id })
      expect([again.restored, again.skipped.length, again.skipped[0].reason]).toEqual([[], 40, 'not deleted'])
      expect((await fail('restore_context', { change_id: 'unknown' })).code).toBe('not_found')
      const batch = await ok('delete_context_batch', { thread_ids: [thread_id], source: 'user' })
      expect([batch.deleted_count, Date.parse(batch.restorable_until) > Date.now()]).toEqual([40, true])
      expect(batch.change_id).not.toBe(change_id)
      const { changes } = await ok('list_changes', { after: 'start', thread_id, actions: ['deleted'], limit: 200 })
      expect(changes.slice(-40).map((one: Json) => one.change_id)).toEqual(Array(40).fill(batch.change_id))
      expect((await ok('restore_context', { change_id: batch.change_id })).restored).toHaveLength(40)
    })

    it('reports that entries deleted by one call were restored and deleted again by another', async () => {
      const [id, other] = [await store(unique()), await store(unique())]
      const { change_id } = await ok('delete_context', { context_ids: [id, other] })
      await ok('restore_context', { change_id })
      await ok('delete_context', { context_ids: [id] })
      const reasons = async (bearer = ada) => (await ok('restore_context', { change_id }, bearer)).skipped
      const again = { context_id: id, reason: 'restored, then deleted again by a later call' }
      expect(await reasons()).toEqual([{ context_id: other, reason: 'not deleted' }, again])
      await ok('delete_context', { context_ids: [other] })
      expect(await reasons()).toEqual([again, { ...again, context_id: other }])
      // A key that could not have changed them gets the answer of a key that never saw them.
      const refused = await Promise.all(
        [change_id, 'unknown'].map((id) => fail('restore_context', { change_id: id }, narrow)),
      )
      expect(refused[0]).toEqual(refused[1])
    })

    it('[HISTORY-23] reports what cannot be restored and why, and refuses arguments that do not go together', async () => {
      for (const args of [
        {},
        { context_ids: [1], change_id: 'x' },
        { context_ids: [1, 2], version: 1 },
        { change_id: 'x', expected_version: 1 },
      ])
        expect((await fail('restore_context', args)).code).toBe('invalid_input')
      const id = await store('org wide')
      await ok('delete_context', { context_ids: [id] })
      expect(await ok('restore_context', { context_ids: [id, 987_654_321] }, narrow)).toMatchObject({
        restored: [],
        skipped: [{ context_id: id }, { context_id: 987_654_321 }],
      })
    })

    it('[HISTORY-32] reports what a delete would remove without deleting it', async () => {
      const id = await store('stays')
      const all = { success: true, dry_run: true, would_delete: 1, context_ids: [id] }
      expect(await ok('delete_context', { context_ids: [id, 987_654_321], dry_run: true })).toEqual(all)
      expect(await ok('delete_context_batch', { context_ids: [id], dry_run: true })).toEqual(all)
      expect((await read(id)).version).toBe(1)
      const thread_id = unique()
      const entries = Array.from({ length: 100 }, (_, i) => ({ thread_id, source: 'user', text: `of many, ${i}` }))
      const { results } = await ok('store_context_batch', { entries })
      await store('one more', { thread_id })
      const { next } = await ok('list_changes')
      const many = await ok('delete_context', { thread_id, dry_run: true })
      expect(many).toMatchObject({ would_delete: 101, context_ids: results.map((one: Json) => one.context_id) })
      expect((await ok('delete_context_batch', { thread_ids: [thread_id], dry_run: true })).would_delete).toBe(101)
      expect((await ok('delete_context', { context_ids: [id], dry_run: true }, narrow)).would_delete).toBe(0)
      expect((await ok('list_changes', { after: next })).changes).toEqual([])
    })

    it('[HISTORY-33] erases for good: no history, no restoration, no replay, no image', async () => {
      const image = { data: base64(pngBytes(unique())), mime_type: 'image/png' }
      const key = unique()
      const args = { thread_id: unique(), source: 'user', text: 'secret', images: [image], idempotency_key: key }
      const { context_id: id } = await ok('store_context', args)
      await ok('update_context', { context_id: id, text: 'secret again' })
      const { sha256 } = (await read(id)).images[0]
      const other = await store('other secret')
      const named = { title: 'A secret name', content: 'secret', idempotency_key: unique() }
      const { id: namesake } = await ok('remember', { ...named, content: 'a secret', idempotency_key: unique() })
      const { id: first, conflicts } = await ok('remember', named)
      expect(conflicts).toMatchObject([{ id: namesake, title: 'A secret name' }])
      const tagged = { memoryId: first, tags: ['t'], idempotency_key: unique() }
      await ok('context_update', tagged)
      await ok('delete_context', { context_ids: [namesake], erase: true })
      expect((await fail('remember', named)).code).toBe('not_found')
      expect(await ok('context_update', tagged)).toMatchObject({ replayed: true, memory: { content: 'secret' } })
      await ok('delete_context', { context_ids: [first], erase: true })
      expect((await fail('context_update', tagged)).code).toBe('NOT_FOUND')
      await ok('delete_context', { context_ids: [other] })
      expect((await ok('delete_context', { context_ids: [id, other], erase: true })).deleted_count).toBe(2)
      for (const one of [id, other]) {
        expect((await fail('get_context_history', { context_id: one })).code).toBe('not_found')
        expect((await ok('restore_context', { context_ids: [one] })).restored).toEqual([])
      }
      expect((await fail('store_context', args)).code).toBe('not_found')
      expect((await team.ask(`/images/${sha256}`, ada)).status).toBe(404)
    })

    it('[HISTORY-43] lists a restored deletion as stored, an older version as updated, and an erased entry only as such', async () => {
      const thread_id = unique()
      const readers = [ada, eve, narrow]
      const cursors = await Promise.all(readers.map(async (key) => (await ok('list_changes', {}, key)).next))
      const mine = await store('a page of mine', { thread_id, metadata: { audience: 'private' } })
      await ok('update_context', { context_id: mine, text: 'another page' })
      await ok('delete_context', { context_ids: [mine] })
      await ok('restore_context', { context_ids: [mine] })
      await ok('restore_context', { context_ids: [mine], version: 1 })
      const gone = await store('of p', { thread_id, metadata: { project: 'p' } })
      await ok('delete_context', { context_ids: [gone] })
      await ok('delete_context', { context_ids: [gone], erase: true })
      const told = async (i: number, args: Json = {}) =>
        (await ok('list_changes', { after: cursors[i], ...args }, readers[i])).changes
      const all = await told(0)
      expect(all.map((one: Json) => [one.context_id, one.action, one.version])).toEqual([
        [mine, 'stored', 1],
        [mine, 'updated', 2],
        [mine, 'deleted', 3],
        [mine, 'stored', 4],
        [mine, 'updated', 5],
        [gone, 'stored', 1],
        [gone, 'deleted', 2],
      ])
      for (const erased of all.slice(5))
        expect(Object.keys(erased).sort()).toEqual(['action', 'at', 'change_id', 'context_id', 'preview', 'version'])
      expect(all.map(({ preview }: Json) => preview).slice(-3)).toEqual(['a page of mine', '', ''])
      for (const reader of [1, 2]) expect((await told(reader)).map((one: Json) => one.context_id)).toEqual([gone, gone])
      for (const filter of [{ thread_id }, { project: 'p' }])
        expect((await told(0, filter)).filter((one: Json) => one.context_id === gone)).toEqual([])
    })

    it('[HISTORY-60] counts retained versions for those who may see them, and no list or search includes them', async () => {
      const kept = async (bearer: string) => (await ok('get_statistics', {}, bearer)).history
      const before = await kept(eve)
      const id = await store('counted', { metadata: { audience: 'private' } })
      await ok('update_context', { context_id: id, text: 'counted anew' })
      const shared = await store('shared')
      await ok('update_context', { context_id: shared, text: 'shared anew' })
      expect(await kept(eve)).toEqual({
        versions: before.versions + 1,
        bytes: before.bytes + 'shared'.length,
        days: 30,
      })
      // Old states are not entries.
      const thread_id = unique()
      const quagga = await store('a quagga grazes', { thread_id })
      await ok('update_context', { context_id: quagga, text: 'an okapi grazes' })
      const dodo = await store('a dodo walks', { thread_id })
      await ok('delete_context', { context_ids: [dodo] })
      for (const tool of ['fts_search_context', 'semantic_search_context', 'hybrid_search_context'])
        expect((await ok(tool, { query: 'quagga dodo grazes', thread_id })).results.map((one: Json) => one.id)).toEqual(
          [quagga],
        )
      expect((await ok('grep_context', { pattern: 'quagga|dodo', is_regex: true, thread_id })).total_matches).toBe(0)
      expect((await ok('search_context', { thread_id })).total).toBe(1)
      const { threads } = await ok('list_threads', { limit: 100 })
      expect(threads.find((one: Json) => one.thread_id === thread_id)).toMatchObject({ entry_count: 1 })
      const pack = JSON.stringify(await ok('context', { goal: 'the quagga and the dodo' }))
      expect(pack).not.toMatch(/a quagga grazes|dodo walks/)
      expect(JSON.stringify(await ok('context_recall', { query: 'quagga dodo', threshold: 0 }))).not.toMatch(
        /a quagga grazes|dodo walks/,
      )
    })
  })
}
