import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bindings, migrate } from '../support/bindings'
import { onPostgres } from '../support/direct-sql'
import { type Fault, Faults, faulty } from '../support/faults'
import { claudeCode, PLACE } from '../support/hook-events'
import { type Answer, type Json, type Key, openWorld } from '../support/isolation'

const PROJECT = 'github.com/acme/ferry'

/**
 * Looking through what hooks have captured (capture contract §5).
 *
 * @param whole false to test only ownership, effects of one call, and concurrent calls
 */
export function reviewContract(whole: boolean): void {
  describe('a review of captured sessions', () => {
    const faults = new Faults()
    const world = openWorld({ HISTORY_DAYS: '30' }, faulty(bindings.DB, ['batch'], faults))
    const forgetful = openWorld({ HISTORY_DAYS: '0' })
    let ada: Key
    let serial = 0
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      ada = await world.makeOrg()
    })

    const capture = async (
      key: Key,
      prompt: string,
      client = 'claude-code',
      place: object = PLACE,
      of = world,
    ): Promise<void> => {
      const s = claudeCode(`r${++serial}`)
      const events = [s.prompt(prompt), s.edit(`${serial}.ts`), s.end()]
      const at = of.clock.now()
      of.clock.advance(1_000)
      const body = { events: events.map((event) => ({ ...event, at, place })) }
      expect((await of.http(key.secret, 'POST', `/api/v1/hooks/${client}`, body)).status).toBe(200)
    }
    const at = (key: Key, path = '') => `/api/v1/orgs/${key.org}/captured${path}`
    const list = async (key: Key, query = ''): Promise<Json> =>
      (await world.http(key.secret, 'GET', at(key, query))).json
    const post = (key: Key, path: string, body: object, idempotency?: string): Promise<Answer> =>
      world.http(
        key.secret,
        'POST',
        at(key, path),
        body,
        idempotency === undefined ? {} : { 'idempotency-key': idempotency },
      )
    const entryAt = async (id: number): Promise<Json> =>
      (await world.ok(ada, 'get_context_by_ids', { context_ids: [id] })).result[0]
    const found = async (query = 'harbour'): Promise<number[]> =>
      (await world.ok(ada, 'fts_search_context', { query })).results.map(({ id }: Json) => id)
    const titles = ({ items }: Json): string[] => items.map(({ title }: Json) => title)

    const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).toSorted()
    const MERGED = { kind: 'decision', title: 'Harbour', content: 'The harbour has LED lights' }
    const merge = (ids: readonly number[]): Promise<Answer> => post(ada, '/merge', { ...MERGED, ids })
    const isGone = async (id: number): Promise<boolean> =>
      (await world.ok(ada, 'get_context_by_ids', { context_ids: [id] })).result.length === 0
    const twoCaptured = async (): Promise<number[]> => {
      await capture(ada, 'the harbour light')
      await capture(ada, 'the harbour gate')
      return (await list(ada)).items.map((one: Json) => one.id)
    }

    it('lists sessions that the caller may change, newest first, by project and client, page by page', async () => {
      await capture(ada, 'one')
      await capture(ada, 'two', 'codex')
      await capture(ada, 'three', 'codex', { folder: '/home/ada/other' })
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      await capture(ben, 'of ben')
      const all = await list(ada)
      expect([titles(all), all.next]).toEqual([['three', 'two', 'one'], null])
      expect(all.items[1]).toEqual({
        ...{ id: expect.any(Number), title: 'two', project: PROJECT, branch: 'main', client: 'codex', version: 1 },
        ...{ kind: 'session', thread_id: expect.stringContaining('session:codex:') },
        ...{ updated_at: expect.any(String), expires_at: expect.any(String), preview: expect.stringContaining('two') },
      })
      expect(titles(await list(ada, '?client=codex'))).toEqual(['three', 'two'])
      expect(titles(await list(ada, `?project=${encodeURIComponent(PROJECT)}`))).toEqual(['two', 'one'])
      const page = await list(ada, '?limit=2')
      expect(titles(page)).toEqual(['three', 'two'])
      expect(titles(await list(ada, `?limit=2&after=${page.next}`))).toEqual(['one'])
      expect(titles(await list(ben))).toEqual(['of ben'])
      const reader = await world.makeKey(ada.org, { role: 'reader', owner: 'ada' })
      expect((await world.http(reader.secret, 'GET', at(ada))).status).toBe(403)
      const narrow = await world.makeKey(ada.org, { owner: 'ada', projects: ['other'] })
      expect(titles(await list(narrow))).toEqual(['three'])
      expect((await world.http(ada.secret, 'GET', '/api/v1/orgs/another/captured')).status).toBe(404)
    })

    it('approves several sessions in one call, all of them or none, and takes that back', async () => {
      const ids = await twoCaptured()
      const [second, first] = ids as [number, number]
      const stale = await post(ada, '/keep', { ids, expected_versions: { [first]: 7 } })
      expect([stale.status, (await list(ada)).items.length]).toEqual([409, 2])
      const { json, status } = await post(ada, '/keep', { ids, expected_versions: { [first]: 1, [second]: 1 } })
      expect([status, (await list(ada)).items]).toEqual([200, []])
      expect((await entryAt(first)).metadata).toMatchObject({ kind: 'session', title: 'the harbour light' })
      expect((await post(ada, '/undo', { change_id: json.change_id })).status).toBe(200)
      expect((await list(ada)).items.map((one: Json) => one.id)).toEqual(ids)
      await world.ok(ada, 'update_context', { context_id: first, text: 'other words' })
      expect((await post(ada, '/undo', { change_id: json.change_id })).status).toBe(409)
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      expect((await post(ben, '/keep', { ids })).status).toBe(404)
    })

    it('takes the approval of several sessions back for all of them or none, where one has expired meanwhile', async () => {
      await capture(ada, 'the harbour light')
      world.clock.advance(5 * 86_400_000)
      await capture(ada, 'the harbour gate')
      const { items } = await list(ada)
      const ids = items.map((one: Json) => one.id)
      const { json } = await post(ada, '/keep', { ids })
      world.clock.advance(Date.parse(items[1].expires_at) - world.clock.now() + 1_000)
      const undone = await post(ada, '/undo', { change_id: json.change_id }, 'undo-both')
      expect([undone.status, (await list(ada)).items]).toEqual([404, []])
      expect(undone.body).toContain(`entry ${ids[1]}: expired`)
      expect((await post(ada, '/undo', { change_id: json.change_id }, 'undo-both')).status).toBe(404)
    })

    it('counts the sessions of their owner that wait, and no session of another owner or one that was reviewed', async () => {
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const ids = await twoCaptured()
      await capture(ben, 'the harbour wall')
      const waiting = ({ org, owner }: Key) => world.services.capture.review.waiting({ org, owner, projects: null })
      expect([await waiting(ada), await waiting(ben)]).toEqual([2, 1])
      await post(ada, '/drop', { ids: ids.slice(0, 1) })
      await post(ada, '/keep', { ids: ids.slice(1) })
      expect([await waiting(ada), await waiting(ben)]).toEqual([0, 1])
    })

    it('merges sessions into one entry that is linked to them, drops them, and takes that back', async () => {
      await capture(ada, 'the harbour light')
      await capture(ada, 'the harbour gate')
      const ids = (await list(ada)).items.map((one: Json) => one.id)
      const body = {
        ids,
        kind: 'decision',
        title: 'Harbour',
        content: 'The harbour has LED lights',
        expected_versions: { [ids[0]]: 1 },
      }
      expect((await post(ada, '/merge', { ...body, expected_versions: { [ids[1]]: 2 } })).status).toBe(409)
      const { json } = await post(ada, '/merge', body, 'merge-1')
      expect(await found()).toEqual([json.id])
      expect((await entryAt(json.id)).metadata).toMatchObject({
        kind: 'decision',
        audience: 'private',
        project: PROJECT,
      })
      expect((await list(ada)).items).toEqual([])
      const again = await post(ada, '/merge', body, 'merge-1')
      expect(again.json).toEqual({ ...json, replayed: true })
      expect(await found()).toEqual([json.id])
      expect((await post(ada, '/undo', { change_id: json.change_id }, 'undo-1')).status).toBe(200)
      expect(await found()).toEqual([])
      expect((await list(ada)).items.map((one: Json) => one.id).toSorted()).toEqual(ids.toSorted())
      expect((await post(ada, '/undo', { change_id: json.change_id }, 'undo-1')).json.replayed).toBe(true)
    })

    it('merges once, of several that merge the same session at the same moment, and undoes that one', async () => {
      for (const expected_versions of [true, false]) {
        await capture(ada, 'the harbour light')
        const [{ id }] = (await list(ada)).items
        const body = { ...MERGED, ids: [id], ...(expected_versions ? { expected_versions: { [id]: 1 } } : {}) }
        const answers = await Promise.all([1, 2, 3, 4].map(() => post(ada, '/merge', body)))
        expect(statuses(answers)).toEqual([200, 404, 404, 404])
        const merged = answers.find(({ status }) => status === 200)?.json
        expect(await found()).toEqual([merged.id])
        expect((await post(ada, '/undo', { change_id: merged.change_id })).status).toBe(200)
        expect([await found(), (await list(ada)).items.map((one: Json) => one.id)]).toEqual([[], [id]])
        await post(ada, '/drop', { ids: [id] })
      }
    })

    it('merges once under one key, at any time, and answers all the same', async () => {
      const ids = await twoCaptured()
      const answers = await Promise.all([1, 2, 3].map(() => post(ada, '/merge', { ...MERGED, ids }, 'merge-at-once')))
      expect(statuses(answers)).toEqual([200, 200, 200])
      expect(new Set(answers.map(({ json }) => json.change_id)).size).toBe(1)
      expect(await found()).toEqual([answers[0]?.json.id])
    })

    it('drops once when several drop the same sessions at the same time, and no changed session', async () => {
      const ids = await twoCaptured()
      const [one, two] = ids as [number, number]
      const expected_versions = { [one]: 1, [two]: 1 }
      const answers = await Promise.all([1, 2, 3, 4].map(() => post(ada, '/drop', { ids, expected_versions })))
      expect(statuses(answers)).toEqual([200, 404, 404, 404])
      const change_id = answers.find(({ status }) => status === 200)?.json.change_id
      expect((await post(ada, '/undo', { change_id })).status).toBe(200)
      expect((await list(ada)).items).toHaveLength(2)
      expect((await post(ada, '/drop', { ids, expected_versions: { [one]: 3, [two]: 1 } })).status).toBe(409)
      expect((await list(ada)).items).toHaveLength(2)
      const unseen = await Promise.all([1, 2].map(() => post(ada, '/drop', { ids })))
      expect(statuses(unseen)).toEqual([200, 404])
    })

    it('lets one succeed of a drop and an update that expect the same version', async () => {
      for (let round = 0; round < 5; round++) {
        await capture(ada, `round ${round}`)
        const [{ id }] = (await list(ada)).items
        const [dropped, updated] = await Promise.all([
          post(ada, '/drop', { ids: [id], expected_versions: { [id]: 1 } }),
          world.call(ada, 'update_context', { context_id: id, tags: ['seen'], expected_version: 1 }),
        ])
        const isDropped = dropped.status === 200
        expect([isDropped, updated.error === null].filter(Boolean)).toHaveLength(1)
        if (!isDropped) await post(ada, '/drop', { ids: [id] })
      }
    })

    if (whole) {
      it('keeps an entry, found by words and meaning from then on, and undoes that exactly', async () => {
        await capture(ada, 'repair the harbour light')
        const [{ id }] = (await list(ada)).items
        const before = await entryAt(id)
        expect(await found()).toEqual([])
        const { json, status } = await post(ada, `/${id}/keep`, {
          kind: 'decision',
          title: 'Harbour',
          expected_version: 1,
        })
        expect([status, json.id]).toEqual([200, id])
        const kept = await entryAt(id)
        expect(kept.metadata).toMatchObject({ kind: 'decision', title: 'Harbour', audience: 'private' })
        expect([Object.hasOwn(kept.metadata, 'captured'), Object.hasOwn(kept.metadata, 'expires_at')]).toEqual([
          false,
          false,
        ])
        expect(await found()).toEqual([id])
        await world.settle()
        const meant = await world.ok(ada, 'semantic_search_context', { query: 'repair the harbour light' })
        expect(meant.results.map((one: Json) => one.id)).toEqual([id])
        expect((await list(ada)).items).toEqual([])
        expect((await post(ada, '/undo', { change_id: json.change_id })).status).toBe(200)
        const { version, updated_at, ...after } = await entryAt(id)
        expect({ ...after, version: before.version, updated_at: before.updated_at }).toEqual(before)
        expect(version).toBe(3)
        expect(await found()).toEqual([])
        expect((await list(ada)).items.map((one: Json) => one.id)).toEqual([id])
      })

      it('does not count a session in reembed that was approved and undone', async () => {
        await capture(ada, 'the harbour light')
        const [{ id }] = (await list(ada)).items
        const reembed = async () => (await world.http(ada.secret, 'POST', '/api/v1/reembed', {})).json
        const { json } = await post(ada, `/${id}/keep`, {})
        await reembed()
        expect(await reembed()).toMatchObject({ entries: 1, embedded: 1 })
        expect((await post(ada, '/undo', { change_id: json.change_id })).status).toBe(200)
        expect(await reembed()).toMatchObject({ entries: 0, embedded: 0 })
      })

      it('refuses to undo later changes, to approve twice, and missing entries', async () => {
        await capture(ada, 'one')
        const [{ id }] = (await list(ada)).items
        expect((await post(ada, `/${id}/keep`, { expected_version: 7 })).status).toBe(409)
        const { json } = await post(ada, `/${id}/keep`, {})
        expect((await post(ada, `/${id}/keep`, {})).status).toBe(404)
        await world.ok(ada, 'update_context', { context_id: id, text: 'changed' })
        expect((await post(ada, '/undo', { change_id: json.change_id })).status).toBe(409)
        expect((await post(ada, '/undo', { change_id: 'x' })).status).toBe(400)
        expect((await post(ada, '/drop', { ids: [999_999] })).status).toBe(404)
        const ben = await world.makeKey(ada.org, { owner: 'ben' })
        await capture(ada, 'two')
        const [{ id: two }] = (await list(ada)).items
        const never = (await post(ben, '/999999/keep', {})).body.replace('999999', 'N')
        expect((await post(ben, `/${two}/keep`, {})).body.replace(String(two), 'N')).toBe(never)
      })

      it('drops sessions and restores them, captured as before', async () => {
        await capture(ada, 'one')
        const [before] = (await list(ada)).items
        const { json } = await post(ada, '/drop', { ids: [before.id], expected_versions: { [before.id]: 1 } })
        expect((await list(ada)).items).toEqual([])
        expect((await post(ada, '/undo', json)).status).toBe(200)
        const [after] = (await list(ada)).items
        expect({ ...after, version: 1, updated_at: before.updated_at }).toEqual(before)
        const actions = (await world.auditOf(ada)).map(({ action }) => action)
        expect(actions).toEqual(expect.arrayContaining(['captured.drop', 'captured.undo']))
      })

      it('stores a memory from a captured session with a link to it, and leaves the session', async () => {
        await capture(ada, 'the harbour light')
        const [{ id }] = (await list(ada)).items
        const made = await world.ok(ada, 'remember', {
          title: 'Light',
          kind: 'decision',
          project: PROJECT,
          from: [String(id)],
        })
        expect(made.links).toEqual([{ relation: 'derived_from', id: String(id) }])
        expect((await entryAt(Number(made.id))).text_content).toBe((await entryAt(id)).text_content)
        expect((await list(ada)).items).toHaveLength(1)
        const none = await world.call(ada, 'remember', { title: 'Light', kind: 'decision' })
        expect(none.error?.code).toBe('invalid_input')
        const ben = await world.makeKey(ada.org, { owner: 'ben' })
        expect((await world.call(ben, 'remember', { title: 'x', from: [id] })).error?.code).toBe('not_found')
      })

      it('leaves a merged memory if not every session of it can be restored', async () => {
        const erased = await twoCaptured()
        const first = (await merge(erased)).json
        await world.ok(ada, 'delete_context', { context_ids: erased.slice(0, 1), erase: true })
        const refused = await post(ada, '/undo', { change_id: first.change_id })
        expect([refused.status, refused.json.error.message]).toEqual([
          404,
          expect.stringContaining('nothing was undone'),
        ])
        expect([await found(), await isGone(erased[1] as number)]).toEqual([[first.id], true])
        await world.ok(ada, 'restore_context', { context_ids: erased.slice(1) })

        await capture(ada, 'the harbour gate anew') // prose-ignore
        const ids = (await list(ada)).items.map((one: Json) => one.id)
        const second = (await merge(ids)).json
        world.clock.advance(31 * 86_400_000)
        expect((await post(ada, '/undo', { change_id: second.change_id })).status).toBe(404)
        expect([await isGone(second.id), await isGone(ids[0])]).toEqual([false, true])
      })

      it('refuses to undo a merge whose memory has changed since, and undoes it when its sessions are restored', async () => {
        const ids = await twoCaptured()
        const { id, change_id } = (await merge(ids)).json
        await world.ok(ada, 'restore_context', { context_ids: ids.slice(0, 1) })
        expect((await post(ada, '/undo', { change_id })).status).toBe(200)
        expect([await isGone(id), (await list(ada)).items.length]).toEqual([true, 2])
        const once = (await merge(ids)).json
        const twice = await Promise.all(
          [1, 2].map(() => post(ada, '/undo', { change_id: once.change_id }, 'undo-at-once')),
        )
        expect(statuses(twice)).toEqual([200, 200])
        expect([await isGone(once.id), (await list(ada)).items.length]).toEqual([true, 2])
        const again = (await merge(ids)).json
        await world.ok(ada, 'update_context', { context_id: again.id, tags: ['seen'] })
        expect((await post(ada, '/undo', { change_id: again.change_id })).status).toBe(409)
        expect([await isGone(again.id), (await list(ada)).items]).toEqual([false, []])
      })

      it('merges once and undoes that once, wherever the database stops responding, when the calls are repeated', async () => {
        const ids = await twoCaptured()
        /** The answer in the end, of a call that fails at its `step`th batch, and whether it failed. */
        const twice = async (path: string, body: object, step: number, fault: Fault) => {
          const key = `${path.slice(1)}-${fault}-${step}`
          faults.failAfter(step, fault)
          const { status } = await post(ada, path, body, key)
          faults.clear()
          return { failed: status !== 200, answer: await post(ada, path, body, key) }
        }
        for (const fault of ['before', 'after'] as const)
          for (let step = 0, failed = true; failed; step++) {
            const merged = await twice('/merge', { ...MERGED, ids }, step, fault)
            expect([merged.answer.status, await found()]).toEqual([200, [merged.answer.json.id]])
            const undone = await twice('/undo', { change_id: merged.answer.json.change_id }, step, fault)
            expect([undone.answer.status, await found(), (await list(ada)).items.length]).toEqual([200, [], 2])
            failed = merged.failed || undone.failed
          }
      })

      it('refuses to undo a drop of a session that has expired since', async () => {
        const ids = await twoCaptured()
        const { json } = await post(ada, '/drop', { ids })
        world.clock.advance(31 * 86_400_000)
        expect((await post(ada, '/undo', json)).status).toBe(404)
      })

      it('undoes nothing if the old state is not retained, and reports that', async () => {
        const eve = await forgetful.makeOrg()
        const ask = async (method: string, path: string, body?: object): Promise<Answer> =>
          forgetful.http(eve.secret, method, at(eve, path), body)
        const captured = async (prompt: string): Promise<number> => {
          await capture(eve, prompt, 'claude-code', PLACE, forgetful)
          return (await ask('GET', '')).json.items[0].id
        }
        const kept = (await ask('POST', `/${await captured('the harbour light')}/keep`, {})).json
        const unkept = await ask('POST', '/undo', { change_id: kept.change_id })
        expect([unkept.status, unkept.json.error.message]).toEqual([
          404,
          expect.stringContaining('the entry is unchanged'),
        ])
        const merged = (await ask('POST', '/merge', { ...MERGED, ids: [await captured('the harbour gate')] })).json
        expect((await ask('POST', '/undo', { change_id: merged.change_id })).status).toBe(404)
        const { result } = await forgetful.ok(eve, 'get_context_by_ids', { context_ids: [kept.id, merged.id] })
        expect(result).toHaveLength(2)
      })
    }
  })
}
