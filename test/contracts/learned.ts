import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { onPostgres } from '../support/direct-sql'
import { type Answer, type Json, type Key, openWorld } from '../support/isolation'

const FROM = 'github.com/acme/ferry'
const proposal = (key: string, more: object = {}): Json => ({
  ...{ key, kind: 'convention', title: `Harbour ${key}`, content: `The harbour rule ${key} holds for each tide.` },
  metadata: { sources: [{ path: 'AGENTS.md', lines: '3' }] },
  ...more,
})

/** Proposals that a program read from a repository (capture contract §5). */
export function learnedContract(): void {
  describe('proposals of a program', () => {
    const world = openWorld({ HISTORY_DAYS: '30' })
    const forgetful = openWorld({ HISTORY_DAYS: '0' })
    let ada: Key
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      ada = await world.makeOrg()
    })
    const at = (path = '') => `/api/v1/orgs/${ada.org}/captured${path}`
    const post = (body: object, key = ada): Promise<Answer> => world.http(key.secret, 'POST', at(), body)
    const propose = async (...keys: string[]): Promise<Json> =>
      (await post({ from: FROM, project: FROM, proposals: keys.map((key) => proposal(key)) })).json
    const waiting = async (key = ada): Promise<Json[]> => (await world.http(key.secret, 'GET', at())).json.items
    const idOf = async (title: string): Promise<number> =>
      (await waiting()).find((one) => one.title === title)?.id as number
    const found = async (key = ada): Promise<number[]> =>
      (await world.ok(key, 'fts_search_context', { query: 'harbour' })).results.map(({ id }: Json) => id)

    it('[CAPTURE-96] wait for review, private to the owner of the key, in one thread, and become memories when approved', async () => {
      expect(await propose('a', 'b')).toEqual({ stored: 2, known: 0, dropped: 0, refused: [] })
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      expect([await waiting(ben), await found(), await found(ben)]).toEqual([[], [], []])
      expect(await waiting()).toMatchObject([
        { title: 'Harbour a', kind: 'convention', thread_id: `learn:${FROM}`, project: FROM, expires_at: null },
        { title: 'Harbour b' },
      ])
      const id = await idOf('Harbour a')
      expect((await world.http(ada.secret, 'POST', at(`/${id}/keep`), {})).status).toBe(200)
      expect(await found()).toEqual([id])
      const [entry] = (await world.ok(ada, 'get_context_by_ids', { context_ids: [id] })).result
      expect(entry.metadata.sources).toEqual([{ path: 'AGENTS.md', lines: '3' }])
    })

    it('[CAPTURE-96] can name who reads them once they are approved, and are private again after an undo', async () => {
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const proposals = [proposal('a'), proposal('b')]
      expect((await post({ from: FROM, project: FROM, audience: 'org', proposals })).json).toMatchObject({ stored: 2 })
      const [a, b] = [await idOf('Harbour a'), await idOf('Harbour b')]
      expect([await found(ben), (await waiting())[0]?.approved_audience]).toEqual([[], 'org'])
      expect((await world.ok(ben, 'get_context_by_ids', { context_ids: [a] })).result).toEqual([])
      const one = await world.http(ada.secret, 'POST', at(`/${a}/keep`), {})
      const all = await world.http(ada.secret, 'POST', at('/keep'), { ids: [b] })
      expect((await found(ben)).toSorted()).toEqual([a, b].toSorted())
      const [entry] = (await world.ok(ben, 'get_context_by_ids', { context_ids: [a] })).result
      expect(entry.metadata).not.toHaveProperty('approved_audience')
      for (const { json } of [one, all])
        expect((await world.http(ada.secret, 'POST', at('/undo'), { change_id: json.change_id })).status).toBe(200)
      expect([await found(ben), (await waiting()).length]).toEqual([[], 2])
      expect((await post({ from: FROM, audience: 'everyone', proposals })).status).toBe(400)
    })

    it('[CAPTURE-97] are stored once: not again after an approval, an edit or a drop, and each owner has own ones', async () => {
      await propose('a', 'b', 'c')
      const [a, b] = [await idOf('Harbour a'), await idOf('Harbour b')]
      await world.http(ada.secret, 'POST', at(`/${a}/keep`), { title: 'Renamed' })
      await world.http(ada.secret, 'POST', at('/drop'), { ids: [b] })
      expect(await propose('a', 'b', 'c', 'd')).toEqual({ stored: 1, known: 2, dropped: 1, refused: [] })
      expect((await waiting()).map(({ title }) => title)).toEqual(['Harbour d', 'Harbour c'])
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const ofBen = await post({ from: FROM, proposals: [proposal('b'), proposal('c')] }, ben)
      expect(ofBen.json).toMatchObject({ stored: 2 })
      expect(await waiting(ben)).toHaveLength(2)
    })

    it('[CAPTURE-97] are not stored again where nothing of a dropped one is retained', async () => {
      const owner = await forgetful.makeOrg()
      const call = (method: string, path: string, body?: object): Promise<Answer> =>
        forgetful.http(owner.secret, method, `/api/v1/orgs/${owner.org}/captured${path}`, body)
      const body = { from: FROM, proposals: [proposal('a')] }
      await call('POST', '', body)
      const [{ id }] = (await call('GET', '')).json.items
      await call('POST', '/drop', { ids: [id] })
      expect((await call('POST', '', body)).json).toMatchObject({ stored: 0, dropped: 1 })
    })

    it('[CAPTURE-96] are stored without secrets', async () => {
      const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
      await post({ from: FROM, proposals: [proposal('a', { content: `Send the token ${token} with each call.` })] })
      expect(JSON.stringify(await waiting())).not.toContain(token)
    })

    it('[CAPTURE-97] two simultaneous calls store each proposal once', async () => {
      const stored = (await Promise.all([propose('a', 'b'), propose('a', 'b')])).map((one) => one.stored)
      expect(stored.reduce((sum, n) => sum + n, 0)).toBe(2)
      expect(await waiting()).toHaveLength(2)
    })

    it('[CAPTURE-98] are refused from readers, for reserved metadata, and for a project that the key does not reach', async () => {
      const reader = await world.makeKey(ada.org, { role: 'reader' })
      expect((await post({ from: FROM, proposals: [proposal('a')] }, reader)).status).toBe(403)
      const reserved = await post({ from: FROM, proposals: [proposal('a', { metadata: { audience: 'org' } })] })
      expect([reserved.status, reserved.json.error.message]).toEqual([
        400,
        expect.stringContaining('metadata.audience is reserved'),
      ])
      const twice = await post({ from: FROM, proposals: [proposal('a'), proposal('a')] })
      expect(twice.status).toBe(400)
      const limited = await world.makeKey(ada.org, { projects: ['other'] })
      const denied = await post({ from: FROM, project: FROM, proposals: [proposal('a')] }, limited)
      expect(denied.json.stored ?? 0).toBe(0)
      expect(await waiting()).toEqual([])
    })

    it('[CAPTURE-69] are erased with what was captured of their project, dropped ones too', async () => {
      await propose('a', 'b')
      await world.http(ada.secret, 'POST', at('/drop'), { ids: [await idOf('Harbour b')] })
      const erased = await world.http(ada.secret, 'DELETE', at(`?project=${encodeURIComponent(FROM)}`))
      expect([erased.json, await waiting()]).toEqual([{ erased: 2 }, []])
    })
  })
}
