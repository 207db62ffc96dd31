import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { onPostgres } from '../support/beside'
import { migrate } from '../support/bindings'
import { claudeCode, PLACE } from '../support/hook-events'
import { type Answer, type Json, type Key, openWorld } from '../support/isolation'

/** Looking through what hooks have captured (capture contract §5). */
const world = openWorld({ HISTORY_DAYS: '30' })
const PROJECT = 'github.com/acme/ferry'

beforeAll(async () => {
  if (!onPostgres()) await migrate()
})

describe('a review of captured sessions', () => {
  let ada: Key
  let serial = 0
  beforeEach(async () => {
    ada = await world.makeOrg()
  })

  const capture = async (key: Key, prompt: string, client = 'claude-code', place: object = PLACE): Promise<void> => {
    const s = claudeCode(`r${++serial}`)
    const events = [s.prompt(prompt), s.edit(`${serial}.ts`), s.end()]
    const at = world.clock.now()
    world.clock.advance(1_000)
    const body = { events: events.map((event) => ({ ...event, at, place })) }
    expect((await world.http(key.secret, 'POST', `/api/v1/hooks/${client}`, body)).status).toBe(200)
  }
  const at = (key: Key, path = '') => `/api/v1/orgs/${key.org}/captured${path}`
  const list = async (key: Key, query = ''): Promise<Json> => (await world.http(key.secret, 'GET', at(key, query))).json
  const post = (key: Key, path: string, body: object, idempotency?: string): Promise<Answer> =>
    world.http(
      key.secret,
      'POST',
      at(key, path),
      body,
      idempotency === undefined ? {} : { 'idempotency-key': idempotency },
    )
  const whole = async (id: number): Promise<Json> =>
    (await world.ok(ada, 'get_context_by_ids', { context_ids: [id] })).result[0]
  const found = async (query = 'harbour'): Promise<number[]> =>
    (await world.ok(ada, 'fts_search_context', { query })).results.map(({ id }: Json) => id)
  const titles = ({ items }: Json): string[] => items.map(({ title }: Json) => title)

  it('lists what is the caller’s to change, newest first, by project and client, page by page', async () => {
    await capture(ada, 'one')
    await capture(ada, 'two', 'codex')
    await capture(ada, 'three', 'codex', { folder: '/home/ada/other' })
    const ben = await world.makeKey(ada.org, { owner: 'ben' })
    await capture(ben, 'of ben')
    const all = await list(ada)
    expect([titles(all), all.next]).toEqual([['three', 'two', 'one'], null])
    expect(all.items[1]).toEqual({
      ...{ id: expect.any(Number), title: 'two', project: PROJECT, branch: 'main', client: 'codex', version: 1 },
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

  it('keeps an entry, found by words and meaning from then on, and takes that back exactly', async () => {
    await capture(ada, 'repair the harbour light')
    const [{ id }] = (await list(ada)).items
    const before = await whole(id)
    expect(await found()).toEqual([])
    const { json, status } = await post(ada, `/${id}/keep`, { kind: 'decision', title: 'Harbour', expected_version: 1 })
    expect([status, json.id]).toEqual([200, id])
    const kept = await whole(id)
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
    const { version, updated_at, ...after } = await whole(id)
    expect({ ...after, version: before.version, updated_at: before.updated_at }).toEqual(before)
    expect(version).toBe(3)
    expect(await found()).toEqual([])
    expect((await list(ada)).items.map((one: Json) => one.id)).toEqual([id])
  })

  it('refuses to take back what has changed since, to keep twice, and what is not there', async () => {
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
    expect((await whole(json.id)).metadata).toMatchObject({ kind: 'decision', audience: 'private', project: PROJECT })
    expect((await list(ada)).items).toEqual([])
    const again = await post(ada, '/merge', body, 'merge-1')
    expect(again.json).toEqual({ ...json, replayed: true })
    expect(await found()).toEqual([json.id])
    expect((await post(ada, '/undo', { change_id: json.change_id }, 'undo-1')).status).toBe(200)
    expect(await found()).toEqual([])
    expect((await list(ada)).items.map((one: Json) => one.id).toSorted()).toEqual(ids.toSorted())
    expect((await post(ada, '/undo', { change_id: json.change_id }, 'undo-1')).json.replayed).toBe(true)
  })

  it('drops sessions and brings them back, captured as they were', async () => {
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

  it('remembers what was captured with what it is kept from, and leaves the session', async () => {
    await capture(ada, 'the harbour light')
    const [{ id }] = (await list(ada)).items
    const made = await world.ok(ada, 'remember', {
      title: 'Light',
      kind: 'decision',
      project: PROJECT,
      from: [String(id)],
    })
    expect(made.links).toEqual([{ relation: 'derived_from', id: String(id) }])
    expect((await whole(Number(made.id))).text_content).toBe((await whole(id)).text_content)
    expect((await list(ada)).items).toHaveLength(1)
    const none = await world.call(ada, 'remember', { title: 'Light', kind: 'decision' })
    expect(none.error?.code).toBe('invalid_input')
    const ben = await world.makeKey(ada.org, { owner: 'ben' })
    expect((await world.call(ben, 'remember', { title: 'x', from: [id] })).error?.code).toBe('not_found')
  })
})
