import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bindings, migrate } from '../support/bindings'
import { type Json, type Key, openWorld } from '../support/isolation'

/** The audit log: one row for each write and denial, none for other calls, and no write without its row. */
const world = openWorld()
const { call, ok, http, auditOf } = world

let ada: Key
let bob: Key

beforeAll(migrate)
beforeEach(async () => {
  ada = await world.makeOrg('audited')
  bob = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob', agent: 'scout' })
})

const turn = (text: string, parts: Record<string, unknown> = {}) => ({ thread_id: 't', source: 'user', text, ...parts })
const store = async (key: Key, text: string, parts = {}): Promise<number> =>
  (await ok(key, 'store_context', turn(text, parts))).context_id

/** Events since a moment, without what every event has. */
async function since<T>(step: () => Promise<T>): Promise<Json[]> {
  const before = (await auditOf(ada)).length
  await step()
  return (await auditOf(ada)).slice(before)
}

const entries = async () => {
  const { results } = await bindings.DB.prepare(
    'SELECT id, version, text, tags FROM entries WHERE org = ?1 ORDER BY id',
  )
    .bind(ada.org)
    .all()
  return results
}

describe('the audit log', () => {
  it('has exactly one row for each write, with who, what and which entries', async () => {
    const first = await store(ada, 'one')
    const second = await store(ada, 'two')
    const writes: [string, Record<string, unknown>, number[] | null, Json][] = [
      ['store_context', turn('three'), null, { stored: 1 }],
      ['store_context_batch', { entries: [turn('four'), turn('five')] }, null, { stored: 2 }],
      ['update_context', { context_id: first, metadata_patch: { plain: 1 } }, [first], { updated: 1 }],
      ['update_context', { context_id: first, text: 'new' }, [first], { updated: 1 }],
      [
        'update_context_batch',
        {
          updates: [
            { context_id: first, tags: ['x'] },
            { context_id: second, tags: ['y'] },
            { context_id: first, text: 'z' },
          ],
        },
        [first, second],
        { updated: 2 },
      ],
      ['delete_context', { context_ids: [second, 900_000] }, [second], { deleted: 1 }],
      ['delete_context', { thread_id: 'nowhere' }, [], { deleted: 0 }],
      ['delete_context_batch', { context_ids: [first], source: 'user' }, [first], { deleted: 1 }],
    ]
    for (const [tool, args, ids, detail] of writes) {
      let answer: Json
      const events = await since(async () => {
        answer = await ok(ada, tool, args)
      })
      const stored = answer.context_id ? [answer.context_id] : answer.results?.map((one: Json) => one.context_id)
      expect(events).toEqual([
        {
          ...{ seq: expect.any(Number), at: new Date(world.clock.ms).toISOString(), key_id: ada.id, agent: null },
          ...{ action: tool, tool, ids: ids ?? stored, allowed: true, detail },
        },
      ])
    }
  })

  it('has one row for each denial, and none for a call that failed otherwise or only read', async () => {
    const id = await store(ada, 'for everybody')
    const own = await store(bob, 'own')
    const reader = await world.makeKey(ada.org, { role: 'reader', agent: 'eye' })
    const denied: [Key, string, Record<string, unknown>, number][] = [
      [reader, 'store_context', turn('x'), 1],
      [reader, 'delete_context', {}, 1],
      [bob, 'store_context', turn('x', { metadata: { project: 'b' } }), 1],
      [bob, 'update_context', { context_id: own, metadata_patch: { project: 'b' } }, 1],
      [
        bob,
        'update_context_batch',
        {
          updates: [
            { context_id: own, metadata: { project: 'b' } },
            { context_id: own, metadata_patch: { project: 'b' } },
          ],
        },
        2,
      ],
    ]
    for (const [key, tool, args, count] of denied) {
      // Within a minute those of a key that are alike share a row.
      world.clock.advance(60_000)
      const events = await since(() => call(key, tool, args))
      expect(events).toMatchObject([
        { key_id: key.id, agent: key.agent, action: tool, tool, ids: [], allowed: false, detail: { denied: count } },
      ])
    }
    const silent: [string, Record<string, unknown>][] = [
      ['store_context', turn('')],
      ['store_context', turn('x', { nonsense: 1 })],
      ['update_context', { context_id: 900_000, text: 'x' }],
      // For a caller who wants to change it, a read-only entry does not exist.
      ['update_context', { context_id: id, metadata_patch: { plain: 1 } }],
      ['update_context', { context_id: own }],
      [
        'update_context_batch',
        {
          updates: [
            { context_id: own, text: 'x' },
            { context_id: 900_000, text: 'x' },
          ],
        },
      ],
      ['delete_context', {}],
      ['search_context', {}],
      ['get_context_by_ids', { context_ids: [id] }],
      ['fts_search_context', { query: 'x' }],
      ['get_statistics', {}],
    ]
    for (const [tool, args] of silent) expect([tool, await since(() => call(bob, tool, args))]).toEqual([tool, []])
  })

  it('distinguishes the good items of a batch from the denied ones', async () => {
    const [own, moved] = [await store(bob, 'own'), await store(bob, 'moved')]
    const updates = [
      { context_id: moved, metadata_patch: { project: 'b' } },
      { context_id: own, text: 'x' },
    ]
    const events = await since(() => ok(bob, 'update_context_batch', { updates, atomic: false }))
    expect(events.map(({ ids, allowed, detail }) => ({ ids, allowed, detail }))).toEqual([
      { ids: [own], allowed: true, detail: { updated: 1 } },
      { ids: [], allowed: false, detail: { denied: 1 } },
    ])
  })

  it('never holds a text, a tag, a thread or a project', async () => {
    const parts = { tags: ['secrettag'], metadata: { title: 'secrettitle', project: 'secretproject' } }
    const id = await store(ada, 'secrettext', { ...parts, thread_id: 'secretthread' })
    await ok(ada, 'update_context', { context_id: id, text: 'secrettext again' })
    await call(bob, 'store_context', turn('secrettext', parts))
    await ok(ada, 'delete_context', { thread_id: 'secretthread' })
    const { results } = await bindings.DB.prepare('SELECT * FROM audit WHERE org = ?1').bind(ada.org).all()
    expect(results.length).toBeGreaterThan(4)
    expect(JSON.stringify(results)).not.toContain('secret')
  })

  it('cannot be changed, replaced or cut short by any statement', async () => {
    await store(ada, 'one')
    const columns = 'org, seq, at, key_id, agent, action, tool, ids, allowed, detail, bytes_before, times'
    const { results: before } = await bindings.DB.prepare('SELECT * FROM audit WHERE org = ?1').bind(ada.org).all()
    for (const statement of [
      'UPDATE audit SET allowed = 1',
      'DELETE FROM audit',
      `INSERT OR REPLACE INTO audit (${columns}) SELECT ${columns} FROM audit`,
      `INSERT INTO audit (${columns}) SELECT ${columns} FROM audit WHERE true ON CONFLICT DO UPDATE SET key_id = 'x'`,
    ])
      await expect(bindings.DB.prepare(statement).run()).rejects.toThrow(/append-only|UNIQUE/)
    const { results } = await bindings.DB.prepare('SELECT * FROM audit WHERE org = ?1').bind(ada.org).all()
    expect(results).toEqual(before)
  })

  it('is read by cursor, complete and in order, with any page size', async () => {
    for (let i = 0; i < 7; i++) await store(ada, `entry ${i}`)
    const whole = await auditOf(ada)
    expect(whole.map(({ seq }) => seq)).toEqual(whole.map((_, i) => i + 1))
    for (const limit of [1, 2, 3, 9, 1000]) expect(await auditOf(ada, limit)).toEqual(whole)
    const { json } = await http(ada.secret, 'GET', `/api/v1/orgs/${ada.org}/audit?after=${whole.length}`)
    expect(json).toEqual({ events: [], next: null })
  })

  it('shows a narrowed administrator what the keys within its projects did, and nothing else', async () => {
    const admin = await world.makeKey(ada.org, { role: 'admin', projects: ['a'] })
    const beside = await world.makeKey(ada.org, { projects: ['a', 'b'] })
    await store(ada, 'of the org')
    await store(beside, 'of a and b', { metadata: { project: 'a' } })
    const id = await store(bob, 'of a')
    const events = await auditOf(admin, 1)
    expect(events.map(({ key_id, ids }) => [key_id, ids])).toEqual([[bob.id, [id]]])
  })

  it('returns nothing to the cursor of another org', async () => {
    const other = await world.makeOrg('elsewhere')
    for (let i = 0; i < 5; i++) await store(other, `entry ${i}`)
    const last = (await auditOf(other)).at(-1).seq
    await store(ada, 'one')
    const { json } = await http(ada.secret, 'GET', `/api/v1/orgs/${ada.org}/audit?after=${last - 3}`)
    const mine = await auditOf(ada)
    expect(json.events).toEqual(mine.filter(({ seq }) => seq > last - 3))
    expect(mine.map(({ seq }) => seq)).toEqual(mine.map((_, i) => i + 1))
  })

  it('refuses each write whose row it cannot take, and nothing of it is stored', async () => {
    const id = await store(ada, 'before')
    const writes: [string, Record<string, unknown>][] = [
      ['store_context', turn('new')],
      ['store_context', turn('before', { tags: ['again'] })],
      ['store_context_batch', { entries: [turn('new'), turn('newer')] }],
      ['update_context', { context_id: id, metadata_patch: { plain: 1 } }],
      ['update_context', { context_id: id, text: 'after' }],
      ['update_context_batch', { updates: [{ context_id: id, tags: ['x'] }] }],
      ['delete_context', { context_ids: [id] }],
      ['delete_context_batch', { thread_ids: ['t'], source: 'user' }],
    ]
    const key = { name: 'k', role: 'reader' }
    const before = [await entries(), await auditOf(ada)]
    await bindings.DB.prepare(
      `CREATE TRIGGER audit_full BEFORE INSERT ON audit WHEN NEW.org = '${ada.org}' BEGIN SELECT raise(ABORT, 'no leave at 10.0.0.7'); END`,
    ).run()
    try {
      for (const [tool, args] of writes) {
        const { error, body } = await call(ada, tool, args)
        expect([tool, error?.code]).toEqual([tool, expect.stringMatching(/^(unavailable|internal)$/)])
        expect(body).not.toMatch(/no leave|10\.0\.0\.7|audit|SQL/)
      }
      const made = await http(ada.secret, 'POST', `/api/v1/orgs/${ada.org}/keys`, key)
      expect([made.status, made.json.error.code]).toEqual([
        expect.any(Number),
        expect.stringMatching(/^(unavailable|internal)$/),
      ])
    } finally {
      await bindings.DB.prepare('DROP TRIGGER audit_full').run()
    }
    expect([await entries(), await auditOf(ada)]).toEqual(before)
    const keys = await http(ada.secret, 'GET', `/api/v1/orgs/${ada.org}/keys`)
    expect(keys.json.keys).toHaveLength(2)
    for (const [tool, args] of writes.slice(0, -2)) await ok(ada, tool, args)
  })
})
