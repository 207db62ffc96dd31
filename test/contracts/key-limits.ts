import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSqlNotices } from '../../src/adapters/sql/stores/maintenance/notices'
import { DAY_MS, HOUR_MS } from '../../src/domain/time'
import { bindings, migrate } from '../support/bindings'
import { onPostgres, withSqlConnection } from '../support/direct-sql'
import { claudeCode, PLACE } from '../support/hook-events'
import { countingRows, type Json, type Key, openWorld } from '../support/isolation'

/** Limits of one key (operate contract §4.2), on every database. */
export function keyLimitsContract(): void {
  describe('limits of a key', () => {
    const world = openWorld({ HISTORY_DAYS: '30' })
    let admin: Key
    let serial = 0
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      admin = await world.makeOrg()
    })

    const keysAt = (rest = '', org = admin.org) => `/api/v1/orgs/${org}/keys${rest}`
    const create = async (limits: object, role = 'writer', by = admin.secret): Promise<Key> => {
      const { status, json, body } = await world.http(by, 'POST', keysAt(), { name: 'a key', role, ...limits })
      expect([status, body]).toEqual([201, body])
      return { ...json, secret: json.key, org: admin.org }
    }
    const limit = (key: Pick<Key, 'id'>, limits: unknown, by = admin.secret) =>
      world.http(by, 'PATCH', keysAt(`/${key.id}`), limits)
    const rotate = async (key: Key, body: object = {}, by = admin.secret): Promise<Key> => {
      const { json } = await world.http(by, 'POST', keysAt(`/${key.id}/rotate`), body)
      return { ...json, secret: json.key, org: admin.org }
    }
    const listed = async (key: Pick<Key, 'id'>): Promise<Json> =>
      (await world.http(admin.secret, 'GET', keysAt())).json.keys.find(({ id }: Json) => id === key.id)
    const store = (key: Key, more: object = {}, place = world) =>
      place.call(key, 'store_context', { thread_id: 't', source: 'agent', text: `text ${++serial}`, ...more })
    const stored = async (key: Key, more: object = {}, place = world): Promise<string> => {
      const { error, data } = await store(key, more, place)
      return error === null ? String(data.context_id) : error.code
    }
    const count = async (): Promise<number> => (await world.ok(admin, 'search_context')).total
    const codes = async (key: Key, times: number): Promise<string[]> => {
      const all = []
      for (let i = 0; i < times; i++) all.push((await store(key)).error?.code ?? 'stored')
      return all
    }

    describe('the quota of entries', () => {
      it('[OPERATE-202] refuses a new entry above the quota, names it, and lets reads, changes and deletions through', async () => {
        const key = await create({ max_entries: 2 })
        const [first] = [await stored(key), await stored(key)]
        const { error, data } = await store(key)
        expect(error).toMatchObject({ code: 'limit_exceeded', retryable: false })
        expect(error?.message).toMatch(/at most 2 entries a day \(its own quota, max_entries\)\. It has stored 2 today/)
        expect(error?.message).toContain(`commonplace keys limit ${key.id} --max-entries N`)
        expect(data.error.details).toEqual({
          ...{ quota: 'max_entries', limit: 2, stored: 2, until: '2026-11-21T00:00:00Z' },
        })
        expect(await count()).toBe(2)
        expect((await world.ok(key, 'get_context_by_ids', { context_ids: [first] })).result).toHaveLength(1)
        expect((await world.call(key, 'update_context', { context_id: first, text: 'another text' })).error).toBeNull()
        expect((await world.call(key, 'delete_context', { context_ids: [first] })).error).toBeNull()
        // A deleted entry still counts, so that a key cannot store and delete without end.
        expect(await stored(key)).toBe('limit_exceeded')
        expect((await world.call(key, 'restore_context', { context_ids: [first] })).error).toBeNull()
        expect(await stored(admin)).toMatch(/^\d+$/)
      })

      it('[OPERATE-202] counts entries of every tool, and each entry of a batch, of which nothing is stored if it does not fit', async () => {
        const key = await create({ max_entries: 4 })
        await world.ok(key, 'remember', { title: 'a title', content: 'a decision of the team', kind: 'decision' })
        await world.ok(key, 'context_store', { type: 'decision', content: 'a note of fabric', metadata: {} })
        const entries = ['a', 'b', 'c'].map((text) => ({
          thread_id: 't',
          source: 'agent',
          text: `${text} ${++serial}`,
        }))
        expect((await world.call(key, 'store_context_batch', { entries })).error?.code).toBe('limit_exceeded')
        expect((await listed(key)).stored_today).toBe(2)
        await world.ok(key, 'store_context_batch', { entries: entries.slice(1) })
        expect((await listed(key)).stored_today).toBe(4)
        expect(await stored(key)).toBe('limit_exceeded')
      })

      it('[OPERATE-202] does not count a repeated turn, and answers a repeated call by its receipt', async () => {
        const key = await create({ max_entries: 1 })
        const same = { text: 'the same turn', idempotency_key: 'one' }
        const id = await stored(key, same)
        expect(id).toMatch(/^\d+$/)
        expect(await stored(key, same)).toBe(id)
        expect(await stored(key, { text: 'the same turn' })).toBe(id)
        expect(await stored(key, { idempotency_key: 'two' })).toBe('limit_exceeded')
        // A refused call leaves no receipt: it succeeds once the quota allows it.
        await limit(key, { max_entries: 2 })
        expect(await stored(key, { idempotency_key: 'two' })).toMatch(/^\d+$/)
      })

      it('[OPERATE-202] starts again each day (UTC), also for isolates whose clocks differ', async () => {
        const early = openWorld()
        const key = await create({ max_entries: 2 })
        expect(await codes(key, 3)).toEqual(['stored', 'stored', 'limit_exceeded'])
        world.clock.advance(DAY_MS)
        try {
          expect((await listed(key)).stored_today).toBe(0)
          expect(await stored(key)).toMatch(/^\d+$/)
          // The clock of this isolate is a day behind.
          expect(await stored(key, {}, early)).toMatch(/^\d+$/)
          expect(await stored(key, {}, early)).toBe('limit_exceeded')
          expect(await stored(key)).toBe('limit_exceeded')
        } finally {
          world.clock.advance(-DAY_MS)
        }
      })

      it('[OPERATE-203] is exact with concurrent writes in two isolates', async () => {
        const other = openWorld()
        const key = await create({ max_entries: 7 })
        const answers = await Promise.all(
          Array.from({ length: 24 }, (_, i) => stored(key, { thread_id: `t${i}` }, i % 2 === 0 ? world : other)),
        )
        expect(answers.filter((answer) => answer === 'limit_exceeded')).toHaveLength(17)
        expect(await count()).toBe(7)
        expect(await listed(key)).toMatchObject({ stored_today: 7, near_quota: true })
      })

      it('[OPERATE-202] counts imported entries, and no sessions that hooks record', async () => {
        const source = await world.makeOrg('source')
        for (let i = 0; i < 3; i++)
          await world.ok(source, 'store_context', { thread_id: 't', source: 'agent', text: `t ${i}` })
        const { body } = await world.http(source.secret, 'GET', `/api/v1/orgs/${source.org}/export`)
        const importer = await create({ max_entries: 2 }, 'admin')
        const answer = await world.http(
          ...([importer.secret, 'POST', `/api/v1/orgs/${admin.org}/import`, new TextEncoder().encode(body)] as const),
          { 'content-type': 'application/x-ndjson' },
        )
        expect([answer.status, answer.json.error.code]).toEqual([429, 'limit_exceeded'])
        expect(answer.headers).toMatch(/^retry-after,\d+$/m)
        expect(answer.json.error.message).toContain('max_entries')
        expect(await count()).toBe(0)

        const key = await create({ max_entries: 1 })
        await stored(key)
        const its = claudeCode(`limited ${++serial}`)
        const events = [its.start(), its.prompt('find the giraffe'), its.edit('a.ts'), its.stop(), its.end()]
        const at = world.clock.now() - 1000
        const sent = await world.http(key.secret, 'POST', '/api/v1/hooks/claude-code', {
          events: events.map((event) => ({ ...event, place: PLACE, at })),
        })
        expect(sent.status).toBe(200)
        await world.settle()
        expect((await listed(key)).stored_today).toBe(1)
      })
    })

    describe('who sets them', () => {
      it('[OPERATE-200] are set when a key is made and later, one by one, and removed with null, with an audit row each', async () => {
        const key = await create({ rate_limit: 100, max_entries: 5 })
        expect(await listed(key)).toMatchObject({ rate_limit: 100, max_entries: 5, stored_today: 0 })
        expect((await limit(key, { max_entries: 9 })).json).toMatchObject({ rate_limit: 100, max_entries: 9 })
        expect((await limit(key, { rate_limit: null })).json).toMatchObject({ rate_limit: null, max_entries: 9 })
        expect((await limit(key, { max_entries: null })).status).toBe(200)
        expect(await listed(key)).toMatchObject({ rate_limit: null, max_entries: null })
        expect(await listed(key)).not.toHaveProperty('stored_today')
        const rows = (await world.auditOf(admin)).filter(({ action, allowed }) => action === 'keys.limit' && allowed)
        expect(rows.map(({ detail }) => detail)).toEqual([
          { key: key.id, rate_limit: 100, max_entries: 9 },
          { key: key.id, rate_limit: 'none', max_entries: 9 },
          { key: key.id, rate_limit: 'none', max_entries: 'none' },
        ])
        const made = (await world.auditOf(admin)).find(
          ({ action, detail }) => action === 'keys.create' && detail.key === key.id,
        )
        expect(made?.detail).toMatchObject({ rate_limit: 100, max_entries: 5 })
      })

      it.each([[0], [-1], [1.5], [1e16], ['5'], ['none'], [true], [[]], [{}], [Number.MAX_VALUE]])(
        '[OPERATE-200] refuse %j, by the name of the member',
        async (value) => {
          const key = await create({ max_entries: 3 })
          for (const name of ['rate_limit', 'max_entries']) {
            const body = { name: 'x', role: 'writer', [name]: value }
            for (const { status, json } of [
              await limit(key, { [name]: value }),
              await world.http(admin.secret, 'POST', keysAt(), body),
            ]) {
              expect([status, json.error.code]).toEqual([400, 'invalid_input'])
              expect(json.error.message).toMatch(new RegExp(`^${name} must be a whole number from 1 to \\d+, or null`))
            }
          }
          expect(await listed(key)).toMatchObject({ rate_limit: null, max_entries: 3 })
        },
      )

      it('[OPERATE-201] are changed by an administrator within its reach only', async () => {
        const key = await create({ max_entries: 1 })
        const [writer, reader] = [await create({}, 'writer'), await create({}, 'reader')]
        for (const by of [key, writer, reader]) {
          const { status, json } = await limit(key, { max_entries: 1000 }, by.secret)
          expect([status, json.error.code]).toEqual([403, 'forbidden'])
        }
        const stranger = await world.makeOrg()
        expect((await limit(key, { max_entries: 1000 }, stranger.secret)).status).toBe(404)
        const narrowed = await create({ projects: ['p'] }, 'admin')
        expect((await limit(key, { max_entries: 1000 }, narrowed.secret)).status).toBe(404)
        expect((await limit({ id: 'key_unknown' }, { max_entries: 1 })).status).toBe(404)
        expect((await limit(key, { max_entries: 2, role: 'admin' })).status).toBe(400)
        expect(await listed(key)).toMatchObject({ max_entries: 1 })
        await world.http(admin.secret, 'DELETE', keysAt(`/${key.id}`))
        expect((await limit(key, { max_entries: 2 })).status).toBe(404)
        expect(
          (await world.auditOf(admin)).filter(({ action, allowed }) => action === 'keys.limit' && !allowed),
        ).not.toEqual([])
      })

      it('[OPERATE-201] bind an administrator: its key cannot raise them for itself or give more to others', async () => {
        const bounded = await create({ rate_limit: 1000, max_entries: 3 }, 'admin')
        const other = await create({}, 'writer')
        for (const limits of [{ max_entries: 4 }, { max_entries: null }, { rate_limit: 1001 }])
          for (const key of [bounded, other]) expect((await limit(key, limits, bounded.secret)).status).toBe(403)
        expect(await listed(bounded)).toMatchObject({ rate_limit: 1000, max_entries: 3 })
        expect((await limit(other, { rate_limit: 1000, max_entries: 2 }, bounded.secret)).status).toBe(200)

        // Keys that it makes have its limits, and count together with it.
        const child = await create({ max_entries: 900 }, 'admin', bounded.secret)
        expect(await listed(child)).toMatchObject({ rate_limit: 1000, max_entries: 3 })
        expect((await limit(child, { max_entries: 4 }, child.secret)).status).toBe(403)
        const grandchild = await create({}, 'writer', child.secret)
        expect([await stored(bounded), await stored(child), await stored(grandchild)]).not.toContain('limit_exceeded')
        for (const key of [bounded, child, grandchild]) expect(await stored(key)).toBe('limit_exceeded')

        // A key without limits that it replaces has its limits too.
        const free = await create({}, 'admin')
        expect(await listed(await rotate(free, {}, bounded.secret))).toMatchObject({ rate_limit: 1000, max_entries: 3 })
      })

      it('[OPERATE-204] stay with a key that replaces another one, with what was used, also while both are accepted', async () => {
        const key = await create({ rate_limit: 500, max_entries: 4 })
        await codes(key, 2)
        const next = await rotate(key, { grace_hours: 24 })
        expect(await listed(next)).toMatchObject({ rate_limit: 500, max_entries: 4, stored_today: 2 })
        expect(await codes(next, 1)).toEqual(['stored'])
        expect(await codes(key, 2)).toEqual(['stored', 'limit_exceeded'])
        expect(await codes(next, 1)).toEqual(['limit_exceeded'])
        const last = await rotate(next)
        expect(await codes(last, 1)).toEqual(['limit_exceeded'])
        expect(await listed(last)).toMatchObject({ max_entries: 4, stored_today: 4, near_quota: true })
      })

      it('[OPERATE-200] hold from the next request on, for a key that had none', async () => {
        const key = await create({})
        expect(await codes(key, 3)).toEqual(['stored', 'stored', 'stored'])
        await limit(key, { max_entries: 1 })
        expect(await codes(key, 2)).toEqual(['stored', 'limit_exceeded'])
        await limit(key, { max_entries: null })
        expect(await codes(key, 1)).toEqual(['stored'])
      })
    })

    describe('the limit of requests', () => {
      const rest = async (key: Key, place = world) => place.http(key.secret, 'GET', `/api/v1/orgs/${key.org}/projects`)
      const statuses = async (key: Key, times: number, place = world): Promise<number[]> => {
        const all = []
        for (let i = 0; i < times; i++) all.push((await rest(key, place)).status)
        return all
      }

      it('[OPERATE-202] answers 429 with Retry-After, and leaves other keys alone', async () => {
        const key = await create({ rate_limit: 3 }, 'admin')
        const answers = await statuses(key, 8)
        // Once more if a minute turns in between.
        expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(6)
        expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(2)
        const refused = await rest(key)
        expect(refused.status).toBe(429)
        expect(Number(/^retry-after,(\d+)$/m.exec(refused.headers)?.[1])).toBeGreaterThanOrEqual(1)
        expect(refused.json.error).toMatchObject({ code: 'limit_exceeded', retryable: true })
        const call = await world.http(key.secret, 'POST', '/mcp', {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/list',
          params: {},
        })
        expect([call.status, call.json.error.data.code]).toEqual([429, 'limit_exceeded'])
        expect((await rest(admin)).status).toBe(200)
      })

      it('[OPERATE-202] holds next to that of the deployment, of which the lower one counts', async () => {
        const tight = openWorld({ RATE_LIMIT_PER_MINUTE: '3' })
        const key = await create({ rate_limit: 1_000_000 }, 'admin')
        expect((await statuses(key, 8, tight)).filter((status) => status === 429).length).toBeGreaterThanOrEqual(2)
      })

      it('[OPERATE-204] is one count for two isolates and for a key with its replacement, and changes at once', async () => {
        const other = openWorld()
        const key = await create({ rate_limit: 4 }, 'admin')
        const next = await rotate(key, { grace_hours: 1 })
        const all = [await statuses(key, 4), await statuses(key, 4, other), await statuses(next, 4)].flat()
        expect(all.filter((status) => status === 200).length).toBeLessThanOrEqual(8)
        expect((await rest(key)).status).toBe(429)
        await limit(key, { rate_limit: null })
        expect(await statuses(key, 6)).toEqual(Array.from({ length: 6 }, () => 200))
      })
    })

    it('[OPERATE-205] reports a key from 80 % of its quota to the webhook, each key by itself, until the day ends', async () => {
      const [busy, calm, also] = [
        ...[await create({ max_entries: 5 }), await create({ max_entries: 5 }), await create({ max_entries: 1 })],
      ]
      await codes(busy as Key, 3)
      await codes(calm as Key, 3)
      await withSqlConnection(async (connection) => {
        const notices = createSqlNotices(connection, { entries: null, bytes: null }, world.clock, false)
        const due = async () => {
          const found = (await notices.due(world.clock.now() - DAY_MS, 1000)).filter(({ org }) => org === admin.org)
          await notices.markSent(found)
          return found.map(({ event, key, value, limit: most }) => [event, key, value, most])
        }
        expect(await due()).toEqual([])
        await codes(busy as Key, 1)
        expect(await due()).toEqual([['quota.key', busy?.id, 4, 5]])
        await codes(also as Key, 1)
        expect(await due()).toEqual([['quota.key', also?.id, 1, 1]])
        expect(await due()).toEqual([])
        const page = await world.page(admin, '/')
        expect(page.body).toMatch(/<strong>2<\/strong> keys near their quota of today/)
        const narrowed = await create({ projects: ['p'] }, 'admin')
        for (const one of [narrowed, busy as Key])
          expect((await world.page(one, '/')).body).not.toContain('near their quota')
        world.clock.advance(DAY_MS - 9 * HOUR_MS)
        try {
          expect(await due()).toEqual([])
          expect((await world.page(admin, '/')).body).not.toContain('near their quota')
        } finally {
          world.clock.advance(9 * HOUR_MS - DAY_MS)
        }
      })
    })

    it.skipIf(onPostgres())('[OPERATE-203] cost no round trip, for a key with or without them', async () => {
      const { database, spentBy } = countingRows(bindings.DB)
      const counted = openWorld({}, database)
      const [free, limited] = [await create({}), await create({ max_entries: 100 })]
      for (const key of [free, limited]) await stored(key, {}, counted)
      await counted.settle()
      const of = async (key: Key) => spentBy(async () => expect(await stored(key, {}, counted)).toMatch(/^\d+$/))
      const [without, with_] = [await of(free), await of(limited)]
      expect(with_.trips).toBe(without.trips)
      expect(with_.written - without.written).toBeLessThanOrEqual(3)
    })
  })
}
