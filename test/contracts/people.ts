import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSqlUsageStore } from '../../src/adapters/sql/stores/identity/usage-store'
import type { Log } from '../../src/http/log'
import { createUsageCounter } from '../../src/services/people/usage'
import { migrate } from '../support/bindings'
import { onPostgres, runSql, withSqlConnection } from '../support/direct-sql'
import { claudeCode, PLACE } from '../support/hook-events'
import { type Json, type Key, OPERATOR, openWorld } from '../support/isolation'
import { TestClock } from '../support/scope'

const NOTHING = { keys: 0, entries: 0, diary_pages: 0, captured: 0, deleted: 0, versions: 0, sessions: 0, traces: 0 }

/** A person who leaves, and what is stored of a person (operate contract §4.1), on every database. */
export function peopleContract(): void {
  describe('a person who leaves', () => {
    const world = openWorld({ HISTORY_DAYS: '30' })
    let admin: Key
    let eve: Key
    let bob: Key
    let serial = 0
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      admin = await world.makeOrg()
      eve = await world.makeKey(admin.org, { owner: 'eve' })
      bob = await world.makeKey(admin.org, { owner: 'bob' })
    })

    const post = (body: object, owner = 'eve', by = admin.secret) =>
      world.http(by, 'POST', `/api/v1/orgs/${admin.org}/people/${owner}/leave`, body)
    /** Repeats the call until nothing remains. */
    async function leave(body: object): Promise<Json> {
      for (let calls = 1; calls < 50; calls++) {
        const { status, json, body: text } = await post(body)
        expect([status, text]).toEqual([200, text])
        if (json.done) return { ...json, calls }
      }
      throw new Error('the departure did not end')
    }

    const store = async (key: Key, text: string, metadata: object = {}, tags: string[] = []): Promise<string> =>
      String(
        (await world.ok(key, 'store_context', { thread_id: 't', source: 'agent', text, metadata, tags })).context_id,
      )
    const found = async (key: Key, query: string): Promise<string[]> => {
      const { results } = await world.ok(key, 'fts_search_context', { query })
      return results.map(({ id }: Json) => String(id))
    }
    const readable = async (key: Key, ids: readonly string[]): Promise<string[]> => {
      const { result } = await world.ok(key, 'get_context_by_ids', { context_ids: ids })
      return result.map(({ id }: Json) => String(id))
    }

    /** One of each thing that a person leaves behind. */
    async function belongings() {
      const session = `leaving-${++serial}`
      const shared = await store(eve, 'shared zebra of everyone', {}, ['animals'])
      const hidden = await store(eve, 'hidden walrus of eve', { audience: 'private', project: 'p' }, ['animals'])
      await world.ok(eve, 'update_context', { context_id: hidden, text: 'hidden walrus of eve, second version' })
      const page = (
        await world.ok(eve, 'remember', {
          diary: true,
          agent_id: 'bot',
          title: 'a day',
          content: 'diary of the octopus',
        })
      ).id
      const deleted = await store(eve, 'deleted narwhal of eve', { audience: 'private' })
      await world.ok(eve, 'delete_context', { context_ids: [deleted] })
      // Private at first, and shared now.
      const opened = await store(eve, 'formerly secret pelican', { audience: 'private' })
      await world.ok(eve, 'update_context', {
        ...{ context_id: opened, text: 'the pelican is public' },
        metadata_patch: { audience: 'org' },
      })
      const its = claudeCode(session)
      const events = [its.start(), its.prompt('please find the lost giraffe'), its.edit('src/giraffe.ts'), its.stop()]
      const at = world.clock.now() - 1000
      await world.http(eve.secret, 'POST', '/api/v1/hooks/claude-code', {
        events: events.map((event) => ({ ...event, place: PLACE, at })),
      })
      await world.settle()
      return { shared, hidden, page: String(page), deleted, opened, session }
    }

    /** Rows that name the owner, and differences between counters and entries. */
    async function traces(owner: string): Promise<number[]> {
      const { org } = admin
      const rows = await runSql(sql`SELECT
        (SELECT count(*) FROM entries WHERE org = ${org} AND reader = ${owner}) AS a,
        (SELECT count(*) FROM entry_versions WHERE org = ${org} AND reader = ${owner}) AS b,
        (SELECT count(*) FROM capture_sessions WHERE org = ${org} AND owner = ${owner}) AS c,
        (SELECT count(*) FROM capture_events WHERE org = ${org} AND owner = ${owner}) AS d,
        (SELECT count(*) FROM last_seen WHERE org = ${org} AND owner = ${owner}) AS e,
        (SELECT count(*) FROM thread_counters WHERE org = ${org} AND reader = ${owner}) AS f,
        (SELECT count(*) FROM entry_counters WHERE org = ${org} AND reader = ${owner}) AS g,
        (SELECT count(*) FROM version_counters WHERE org = ${org} AND reader = ${owner}) AS h,
        (SELECT count(*) FROM tag_counters WHERE org = ${org} AND reader = ${owner}) AS i,
        (SELECT count(*) FROM changes WHERE org = ${org} AND erased = 0 AND last_reader = ${owner}) AS j,
        (SELECT coalesce(sum(entries), 0) FROM entry_counters WHERE org = ${org})
          - (SELECT count(*) FROM entries WHERE org = ${org}) AS k,
        (SELECT coalesce(sum(versions), 0) FROM version_counters WHERE org = ${org})
          - (SELECT count(*) FROM entry_versions WHERE org = ${org}) AS l,
        (SELECT count(*) FROM entry_vectors WHERE org = ${org} AND reader = ${owner}) AS m`)
      return Object.values(rows[0] ?? {}).map(Number)
    }
    const CLEAN = Array.from({ length: 13 }, () => 0)

    it('[OPERATE-175] is counted by a dry run, which changes nothing', async () => {
      const { hidden } = await belongings()
      const { json } = await post({ to: 'bob', dry_run: true })
      expect(json).toMatchObject({ owner: 'eve', to: 'bob', dry_run: true, done: false })
      expect(json.remaining).toMatchObject({ keys: 1, entries: 1, diary_pages: 1, deleted: 1 })
      expect(json.remaining.versions).toBeGreaterThanOrEqual(2)
      expect((await post({ erase: true, dry_run: true })).json.remaining).toEqual(json.remaining)
      expect(await found(eve, 'walrus')).toEqual([hidden])
      const actions = (await world.auditOf(admin)).map(({ action }) => action)
      expect(actions).not.toContain('people.leave')
    })

    it('[OPERATE-176] hands private memories, diary pages, sessions and versions to one other person only', async () => {
      const { shared, hidden, page, deleted, opened } = await belongings()
      const answer = await leave({ to: 'bob' })
      expect(answer.remaining).toEqual(NOTHING)
      expect(await traces('eve')).toEqual(CLEAN)

      expect(await found(bob, 'walrus')).toEqual([hidden])
      const similar = async (key: Key) =>
        (await world.ok(key, 'semantic_search_context', { query: 'hidden walrus of eve' })).results.map(
          ({ id }: Json) => String(id),
        )
      expect([(await similar(bob)).includes(hidden), (await similar(admin)).includes(hidden)]).toEqual([true, false])
      expect(await readable(bob, [shared, hidden, page, opened])).toEqual([shared, hidden, page, opened])
      expect(await found(admin, 'walrus')).toEqual([])
      expect(await readable(admin, [shared, hidden, page, opened])).toEqual([shared, opened])
      // The heir has the history too, and can restore what eve had deleted.
      const { versions } = await world.ok(bob, 'get_context_history', { context_id: hidden })
      expect(versions.length).toBe(2)
      await world.ok(bob, 'restore_context', { context_ids: [deleted] })
      expect(await found(bob, 'narwhal')).toEqual([deleted])
      expect(await found(admin, 'narwhal')).toEqual([])
      // The session waits for the review of the heir.
      world.clock.advance(3_600_000)
      await world.services.schedule.run()
      await world.settle()
      const sessionsOf = async (key: Key) => (await world.page(key, '/review')).body
      expect(await sessionsOf(bob)).toContain('lost giraffe')
      expect(await sessionsOf(admin)).not.toContain('lost giraffe')
    })

    it('[OPERATE-176] is refused from the first call on, with every key and grant, and the keys of others are not', async () => {
      const second = await world.makeKey(admin.org, { owner: 'eve', projects: ['p'] })
      const address = { name: 'addressed', role: 'reader', owner: 'eve', email: 'eve@example.com' }
      await world.http(admin.secret, 'POST', `/api/v1/orgs/${admin.org}/keys`, address)
      await post({ to: 'bob' })
      for (const key of [eve, second])
        expect((await world.http(key.secret, 'GET', '/api/v1/projects')).status).toBe(401)
      // A grant acts as the key that it was made with.
      // Nor may the address of the person lead to a key.
      const rows = await runSql(sql`SELECT email FROM api_keys WHERE org = ${admin.org} AND email IS NOT NULL`)
      expect(rows).toEqual([])
      await expect(world.services.identity.principalOfKeyId(eve.id)).rejects.toMatchObject({ code: 'unauthorized' })
      expect(await found(bob, 'anything')).toEqual([])
    })

    it('[OPERATE-177] is erased with history, diary, sessions and receipts, while shared memories stay with their public versions', async () => {
      const { shared, hidden, page, deleted, opened, session } = await belongings()
      expect((await leave({ erase: true })).remaining).toEqual(NOTHING)
      expect(await traces('eve')).toEqual(CLEAN)
      const all = [shared, hidden, page, deleted, opened]
      const again = await world.makeKey(admin.org, { owner: 'eve' })
      for (const key of [again, bob, admin]) expect(await readable(key, all)).toEqual([shared, opened])
      expect(await found(again, 'walrus')).toEqual([])
      const stored = await runSql(sql`
        SELECT text FROM entries WHERE org = ${admin.org}
        UNION ALL SELECT coalesce(text, '') FROM entry_versions WHERE org = ${admin.org}
        UNION ALL SELECT state FROM capture_sessions WHERE org = ${admin.org}
        UNION ALL SELECT coalesce(output, '') FROM capture_events WHERE org = ${admin.org}
        UNION ALL SELECT coalesce(answer, '') || coalesce(text, '') || coalesce(notes, '') FROM receipts WHERE org = ${admin.org}`)
      for (const word of ['walrus', 'octopus', 'narwhal', 'secret', 'giraffe', session])
        expect(stored.filter(({ text }) => String(text).includes(word))).toEqual([])
    })

    it('[OPERATE-177] keeps the text of a public version that was stored with an erased private one', async () => {
      const id = await store(eve, 'the heron waits in the reeds')
      const set = (audience: string) =>
        world.ok(eve, 'update_context', { context_id: id, metadata_patch: { audience } })
      await set('private')
      await set('org')
      await world.ok(eve, 'update_context', { context_id: id, text: 'the heron has left' })
      await leave({ erase: true })
      expect((await world.auditOf(admin)).at(-1)).toMatchObject({
        ...{ action: 'people.leave', detail: { owner: 'eve', erase: 1, versions: 1 } },
      })
      const { versions } = await world.ok(bob, 'get_context_history', { context_id: id })
      expect(versions.map(({ version, preview }: Json) => [version, preview])).toEqual([
        [4, 'the heron has left'],
        [3, 'the heron waits in the reeds'],
        [1, 'the heron waits in the reeds'],
      ])
    })

    it('[OPERATE-178] is finished by a repeated call, in parts, and a call after the end writes nothing', async () => {
      for (let part = 0; part < 3; part++)
        await world.ok(eve, 'store_context_batch', {
          entries: Array.from({ length: 80 }, (_, i) => ({
            ...{ thread_id: `t${part}-${i}`, source: 'agent', text: `private capybara ${part} ${i}` },
            metadata: { audience: 'private' },
          })),
        })
      const first = (await post({ to: 'bob' })).json
      expect([first.done, first.remaining.keys, first.remaining.entries]).toEqual([false, 0, 140])
      // The administrator may change their mind: what remains is erased.
      expect((await leave({ erase: true })).calls).toBe(2)
      const { total_count: left } = await world.ok(bob, 'search_context', { limit: 1 })
      expect(left ?? (await world.ok(bob, 'get_statistics', {})).total_entries).toBe(100)
      const events = await world.auditOf(admin)
      await leave({ to: 'bob' })
      expect(await world.auditOf(admin)).toEqual(events)
      const told = events.filter(({ action }) => action === 'people.leave')
      expect(told[0]).toMatchObject({ key_id: admin.id, detail: { owner: 'eve', to: 'bob', keys: 1, entries: 100 } })
      expect(told[0]?.ids.length).toBe(100)
    })

    it('[OPERATE-178] is not done by the call that revokes the keys, so that a write which began before is found by the next one', async () => {
      const id = await store(eve, 'a late private lemur', { audience: 'private' })
      const first = (await post({ erase: true })).json
      expect([first.done, first.remaining]).toEqual([false, NOTHING])
      expect(await leave({ erase: true })).toMatchObject({ calls: 1, done: true })
      expect(await readable(admin, [id])).toEqual([])
    })

    it('[OPERATE-179] needs an administrator of the complete organization who is not that person, and an heir with a valid key', async () => {
      await belongings()
      const before = await traces('eve')
      const narrow = await world.makeKey(admin.org, { role: 'admin', owner: 'nat', projects: ['p'] })
      const other = await world.makeOrg()
      const refused = async (by: string, body: object, owner = 'eve') => {
        const { status, json } = await post(body, owner, by)
        return [status, json.error.code]
      }
      expect(await refused(bob.secret, { to: 'bob' })).toEqual([403, 'forbidden'])
      expect(await refused(narrow.secret, { to: 'bob' })).toEqual([403, 'forbidden'])
      expect(await refused(other.secret, { to: 'bob' })).toEqual([404, 'not_found'])
      expect(await refused(admin.secret, { to: 'bob' }, 'nobody')).toEqual([404, 'not_found'])
      for (const body of [
        {},
        { to: 'bob', erase: true },
        { to: 'eve' },
        { to: 'nobody' },
        { erase: 'yes' },
        { too: 1 },
      ])
        expect(await refused(admin.secret, body)).toEqual([400, 'invalid_input'])
      expect(await refused(admin.secret, { to: 'bob' }, 'ada')).toEqual([400, 'invalid_input'])
      expect((await world.http(narrow.secret, 'GET', `/api/v1/orgs/${admin.org}/people/eve`)).status).toBe(403)
      expect((await world.http(narrow.secret, 'GET', `/api/v1/orgs/${admin.org}/people/eve/export`)).status).toBe(403)
      expect(await traces('eve')).toEqual(before)
      expect((await post({ to: 'bob', dry_run: true }, 'eve', OPERATOR)).status).toBe(200)
    })

    it('[OPERATE-175] may have any name that an owner can have', async () => {
      const owner = 'E/ve %2F é?#'
      const key = await world.makeKey(admin.org, { owner })
      await store(key, 'mine', { audience: 'private' })
      const { status, json } = await post({ to: 'bob' }, encodeURIComponent(owner))
      expect([status, json.owner, json.remaining]).toEqual([200, owner, NOTHING])
      const { json: record } = await world.http(
        admin.secret,
        'GET',
        `/api/v1/orgs/${admin.org}/people/${encodeURIComponent(owner)}`,
      )
      expect(record.keys.map(({ id }: Json) => id)).toEqual([key.id])
    })

    it('[OPERATE-180] gets everything that is stored of them: memories with history, keys, sessions, visits and actions', async () => {
      const { shared, hidden, page, deleted, opened, session } = await belongings()
      await store(bob, 'a memory of bob')
      await store(bob, 'a private memory of bob', { audience: 'private' })
      const path = `/api/v1/orgs/${admin.org}/people/eve`
      const { body } = await world.http(admin.secret, 'GET', `${path}/export?history=true`)
      const records = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      const idsOf = (what: string) =>
        new Set(records.filter(({ record }) => record === what).map(({ id }) => String(id)))
      for (const id of [shared, hidden, page, opened]) expect(idsOf('entry')).toContain(id)
      expect(idsOf('version')).toContain(deleted)
      expect(body).not.toContain('memory of bob')
      const { json, body: text } = await world.http(admin.secret, 'GET', path)
      expect(json.keys.map(({ id }: Json) => id)).toEqual([eve.id])
      expect(text).not.toContain(eve.secret)
      expect(JSON.stringify(json.sessions)).toContain(session)
      expect(json.actions.some(({ action }: Json) => action === 'store_context')).toBe(true)
      const told = (await world.auditOf(admin)).map(({ action }) => action)
      expect(told).toEqual(expect.arrayContaining(['people.read', 'people.export']))
    })
  })

  describe('a key that is rotated', () => {
    const world = openWorld()
    let admin: Key
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      admin = await world.makeOrg()
    })
    const rotate = (id: string, body: object = {}, by = admin.secret) =>
      world.http(by, 'POST', `/api/v1/orgs/${admin.org}/keys/${id}/rotate`, body)
    const works = async (secret: string) => (await world.http(secret, 'GET', '/api/v1/projects')).status

    it('[OPERATE-181] is replaced by one with the same rights and owner, and refused from the next request on', async () => {
      const old = await world.makeKey(admin.org, { owner: 'eve', projects: ['p'], agent: 'bot' })
      const private_ = {
        thread_id: 't',
        source: 'agent',
        text: 'mine',
        metadata: { audience: 'private', project: 'p' },
      }
      const { context_id } = await world.ok(old, 'store_context', private_)
      const { status, json } = await rotate(old.id)
      expect(status).toBe(201)
      expect(json).toMatchObject({
        name: 'a key',
        role: 'writer',
        owner: 'eve',
        projects: ['p'],
        agent: 'bot',
        expires_at: null,
      })
      expect([await works(old.secret), await works(json.key)]).toEqual([401, 200])
      expect(json.replaces).toMatchObject({ id: old.id, revoked_at: expect.any(String) })
      const key = { ...old, id: json.id, secret: json.key }
      expect((await world.ok(key, 'get_context_by_ids', { context_ids: [context_id] })).result.length).toBe(1)
      expect((await world.auditOf(admin)).at(-1)).toMatchObject({
        action: 'keys.rotate',
        detail: { key: old.id, by: json.id },
      })
      // A repeated call makes no second key.
      const again = await rotate(old.id)
      expect([again.status, again.json.error.code]).toEqual([409, 'conflict'])
      const { keys } = (await world.http(admin.secret, 'GET', `/api/v1/orgs/${admin.org}/keys`)).json
      expect(keys.length).toBe(3)
    })

    it('[OPERATE-181] is accepted for the hours of a grace period, and no longer than before', async () => {
      const old = await world.makeKey(admin.org)
      const { json } = await rotate(old.id, { grace_hours: 2 })
      expect([await works(old.secret), await works(json.key)]).toEqual([200, 200])
      world.clock.advance(2 * 3_600_000)
      expect([await works(old.secret), await works(json.key)]).toEqual([401, 200])
      for (const grace_hours of [-1, 169, 1.5, '2'])
        expect((await rotate(json.id, { grace_hours })).json.error.code).toBe('invalid_input')
      expect((await rotate('key_none')).status).toBe(404)
      expect(await works(json.key)).toBe(200)
    })

    it('[OPERATE-181] gives a narrowed administrator no key of another owner', async () => {
      const narrow = await world.makeKey(admin.org, { role: 'admin', owner: 'nat', projects: ['p'] })
      const eve = await world.makeKey(admin.org, { owner: 'eve', projects: ['p'] })
      const own = await world.makeKey(admin.org, { owner: 'nat', projects: ['p'] })
      expect((await rotate(eve.id, {}, narrow.secret)).json.error.code).toBe('forbidden')
      expect((await rotate(own.id, {}, narrow.secret)).status).toBe(201)
      expect((await rotate(admin.id, {}, narrow.secret)).status).toBe(404)
      expect((await rotate(own.id, {}, eve.secret)).status).toBe(403)
      expect(await works(eve.secret)).toBe(200)
    })

    it('[OPERATE-182] is announced two weeks before it expires: in the list, to its holder, in the metrics and in the log', async () => {
      const lines: [string, Record<string, unknown>][] = []
      const log: Log = (_, event, fields = {}) => void lines.push([event, fields])
      const watched = openWorld({}, undefined, { log })
      const make = async (name: string, days: number) =>
        (
          await watched.http(OPERATOR, 'POST', `/api/v1/orgs/${admin.org}/keys`, {
            ...{ name, role: 'writer', owner: name },
            expires_at: new Date(watched.clock.now() + days * 86_400_000).toISOString(),
          })
        ).json
      const [soon, later] = [await make('soon', 13), await make('later', 17)]
      const { keys } = (await watched.http(admin.secret, 'GET', `/api/v1/orgs/${admin.org}/keys`)).json
      expect(keys.filter(({ expires_soon }: Json) => expires_soon).map(({ id }: Json) => id)).toEqual([soon.id])
      expect((await watched.http(later.key, 'GET', '/api/v1/hooks')).json.expires_at).toBe(later.expires_at)
      for (const secret of [admin.secret, OPERATOR]) {
        const { body } = await watched.http(secret, 'GET', '/metrics')
        const sample = `commonplace_key_expires_seconds{org="${admin.org}",key="${soon.id}"} ${Date.parse(soon.expires_at) / 1000}`
        expect(body).toContain(sample)
        expect(body).not.toContain(later.id)
      }
      const other = await watched.makeOrg()
      expect((await watched.http(other.secret, 'GET', '/metrics')).body).not.toContain(soon.id)
      // The step runs once a day.
      watched.clock.advance(2 * 86_400_000)
      await watched.services.schedule.run()
      const told = lines.filter(([event, { org }]) => event === 'key_expires' && org === admin.org)
      expect(told.map(([, fields]) => fields)).toEqual([{ org: admin.org, key: soon.id, owner: 'soon', days: 11 }])
      // A renewed key lives as long as the old one did.
      const { json } = await watched.http(admin.secret, 'POST', `/api/v1/orgs/${admin.org}/keys/${soon.id}/rotate`, {})
      expect(Date.parse(json.expires_at) - watched.clock.now()).toBe(13 * 86_400_000)
    })
  })

  describe('the usage of keys', () => {
    const clock = new TestClock()
    const row = (more: object) => ({
      ...{
        org: 'o',
        day: 20_000,
        keyId: 'k',
        project: '',
        requests: 1,
        calls: 1,
        failed: 0,
        entries: 2,
        rowsRead: 3,
        rowsWritten: 4,
      },
      ...{ tokens: 5, recalls: 0, ...more },
    })

    it('[OPERATE-183] is one row a key, project and day, to which every isolate adds', async () => {
      const org = `used-${crypto.randomUUID()}`
      await withSqlConnection(async (connection) => {
        const store = createSqlUsageStore(connection)
        await Promise.all([store.add([row({ org }), row({ org, project: 'p', failed: 1 })]), store.add([row({ org })])])
        await store.add([
          row({ org, day: 19_000, calls: 9 }),
          row({ org, keyId: 'l', calls: 7 }),
          row({ org: `${org}-x` }),
        ])
        const sums = await store.sums(org, 20_000)
        expect(
          sums.map(({ keyId, project, calls, tokens, failed }) => [keyId, project, calls, tokens, failed]),
        ).toEqual([
          ['k', '', 2, 10, 0],
          ['k', 'p', 1, 5, 1],
          ['l', '', 7, 5, 0],
        ])
        expect((await store.sums(org, 0)).map(({ calls }) => calls)).toEqual([11, 1, 7])
        expect(await store.forget(20_000, 1)).toBe(1)
        while ((await store.forget(20_000, 100)) > 0);
        expect((await store.sums(org, 0)).map(({ calls }) => calls)).toEqual([2, 1, 7])
      })
    })

    it('[OPERATE-210] counts calls that search, and returns whether a key or an organization has any', async () => {
      const org = `recalled-${crypto.randomUUID()}`
      await withSqlConnection(async (connection) => {
        const store = createSqlUsageStore(connection)
        await store.add([row({ org }), row({ org, keyId: 'l' })])
        expect(await store.hasRecalls(org, null)).toBe(false)
        await store.add([row({ org, recalls: 3 }), row({ org: `${org}-x`, recalls: 1 })])
        expect((await store.sums(org, 0)).map(({ recalls }) => recalls)).toEqual([3, 0])
        expect(await store.hasRecalls(org, null)).toBe(true)
        expect(await store.hasRecalls(org, 'k')).toBe(true)
        expect(await store.hasRecalls(org, 'l')).toBe(false)
      })
    })

    it('[OPERATE-210] writes the first recall of an organization at once, and the next ones with the minute', () => {
      const counter = createUsageCounter()
      const used = (more: object) => ({ ...row(more), project: null })
      counter.note(used({}))
      expect(counter.due(clock.now())).toHaveLength(1)
      counter.note(used({}))
      expect(counter.due(clock.now() + 1)).toBeNull()
      counter.note(used({ recalls: 1 }))
      expect(counter.due(clock.now() + 2)).toMatchObject([{ calls: 2, recalls: 1 }])
      counter.note(used({ recalls: 1 }))
      expect(counter.due(clock.now() + 3)).toBeNull()
      counter.note(used({ org: 'another', recalls: 1 }))
      expect(counter.due(clock.now() + 4)).toHaveLength(2)
    })

    it('[OPERATE-183] is written once a minute, and reported by key, owner and project to administrators of all projects', async () => {
      const world = openWorld()
      const admin = await world.makeOrg()
      const eve = await world.makeKey(admin.org, { owner: 'eve' })
      const second = await world.makeKey(admin.org, { owner: 'eve' })
      await world.ok(eve, 'store_context', {
        thread_id: 't',
        source: 'agent',
        text: 'x',
        metadata: { project: 'apollo' },
      })
      const used = (keyId: string, project: string | null) => ({ ...row({ org: admin.org, keyId }), project })
      const counter = createUsageCounter()
      counter.note(used(eve.id, 'Apollo'))
      const first = counter.due(clock.now())
      expect(first).toHaveLength(1)
      for (const name of ['apollo', 'invented', null]) counter.note(used(second.id, name))
      expect(counter.due(clock.now() + 59_999)).toBeNull()
      const later = counter.due(clock.now() + 60_000)
      expect(later).toHaveLength(3)
      await world.services.usage.add([...(first ?? []), ...(later ?? [])])
      const report = async (query: string, by = admin.secret) =>
        (await world.http(by, 'GET', `/api/v1/orgs/${admin.org}/usage?${query}`)).json
      expect((await report('')).usage.map(({ key, owner, calls }: Json) => [key, owner, calls])).toEqual([
        [second.id, 'eve', 3],
        [eve.id, 'eve', 1],
      ])
      expect((await report('by=owner')).usage).toMatchObject([{ owner: 'eve', calls: 4, entries: 8, tokens: 20 }])
      // A name that no project has is not stored.
      expect((await report('by=project&days=1')).usage.map(({ project, calls }: Json) => [project, calls])).toEqual([
        ['', 2],
        ['apollo', 2],
      ])
      const { body } = await world.http(admin.secret, 'GET', '/metrics')
      expect(body).toContain(`commonplace_key_calls_today{org="${admin.org}",key="${second.id}",owner="eve"} 3`)
      const narrow = await world.makeKey(admin.org, { role: 'admin', owner: 'nat', projects: ['p'] })
      for (const by of [eve.secret, narrow.secret]) expect((await report('', by)).error.code).toBe('forbidden')
      expect((await report('', (await world.makeOrg()).secret)).error.code).toBe('not_found')
      for (const query of ['days=0', 'days=366', 'by=agent', 'dys=1'])
        expect((await report(query)).error.code).toBe('invalid_input')
    })

    it('[OPERATE-192] returns what each day used, of one organization or of all with work that belongs to no key', async () => {
      const org = `days-${crypto.randomUUID()}`
      const day = 900_000
      await withSqlConnection(async (connection) => {
        const store = createSqlUsageStore(connection)
        await store.add([
          row({ org, day }),
          row({ org, day, keyId: 'l', requests: 6, rowsRead: 10 }),
          row({ org, day: day + 1, requests: 2, calls: 0 }),
          row({ org: '', day, keyId: 'schedule', requests: 100, calls: 0 }),
          row({ org, day: day - 1 }),
        ])
        expect(await store.days(org, day)).toEqual([
          { day, requests: 7, rowsRead: 13, rowsWritten: 8 },
          { day: day + 1, requests: 2, rowsRead: 3, rowsWritten: 4 },
        ])
        expect((await store.days(null, day)).map(({ requests }) => requests)).toEqual([107, 2])
        // A key that only listed tools made no call.
        expect((await store.sums(org, day + 1)).map(({ keyId }) => keyId)).toEqual([])
        while ((await store.forget(day + 2, 100)) > 0);
      })
    })

    it('[OPERATE-192] reports the cost of the month to administrators of all projects, and of all organizations to ADMIN_TOKEN', async () => {
      const world = openWorld()
      const admin = await world.makeOrg()
      const usage = (org: string, keyId: string) => ({ ...row({ org, keyId, requests: 40 }), project: null })
      await world.services.usage.add([usage(admin.org, 'k'), usage('', 'schedule')])
      const cost = async (by: string, path: string) => (await world.http(by, 'GET', `/api/v1${path}`)).json
      const own = await cost(admin.secret, '/cost')
      const hasRows = !onPostgres()
      expect(own).toMatchObject({
        ...{ org: admin.org, runs_on: 'Cloudflare', database_rows: hasRows, used: { requests: 40, rows_read: 3 } },
        dollars: { plan: 5, total: 5 },
        free_plan: { today: { part: { requests: 0.0004 } }, days_over: 0 },
        prices: { free_plan_day: { requests: 100_000 } },
      })
      expect(own.not_counted).toContain('processor time')
      expect((await cost(OPERATOR, `/orgs/${admin.org}/cost`)).used).toEqual(own.used)
      const all = await cost(OPERATOR, '/cost')
      expect([all.org, all.used.requests >= 80]).toEqual([null, true])
      const narrow = await world.makeKey(admin.org, { role: 'admin', owner: 'nat', projects: ['p'] })
      const writer = await world.makeKey(admin.org, { owner: 'eve' })
      for (const by of [narrow, writer]) expect((await cost(by.secret, '/cost')).error.code).toBe('forbidden')
      const other = await world.makeOrg()
      expect((await cost(other.secret, `/orgs/${admin.org}/cost`)).error.code).toBe('not_found')
      expect((await cost(admin.secret, '/cost?days=3')).error.code).toBe('invalid_input')
    })

    it('[OPERATE-193] shows the cost on a page of the dashboard, and on this machine the counters without a cost', async () => {
      const world = openWorld()
      const admin = await world.makeOrg()
      const used = { ...row({ org: admin.org, keyId: 'k', requests: 25_000 }), project: null }
      await world.services.usage.add([used])
      const { status, body } = await world.page(admin, '/cost')
      expect(status).toBe(200)
      for (const text of [
        '$5.00',
        '25.0% of 100,000',
        'November 2026',
        'Not counted: processor time',
        'limit_exceeded',
      ])
        expect(body).toContain(text)
      expect(body.includes('PostgreSQL does not report rows')).toBe(onPostgres())
      expect(body.includes('Rows written')).toBe(!onPostgres())
      const narrow = await world.makeKey(admin.org, { role: 'admin', owner: 'nat', projects: ['p'] })
      expect((await world.page(narrow, '/cost')).status).toBe(403)
      expect((await world.page(admin, '/keys')).body).toContain('href="/cost"')
      expect((await world.page(narrow, '/keys')).body).not.toContain('href="/cost"')
      const here = openWorld({}, undefined, { bindings: { SCHEDULE_TOKEN: 'of npm start' } })
      const own = await here.makeOrg()
      await here.services.usage.add([{ ...row({ org: own.org, keyId: 'k' }), project: null }])
      const local = (await here.page(own, '/cost')).body
      expect(local).toContain('costs nothing')
      expect(local).not.toContain('$')
      const { json } = await here.http(own.secret, 'GET', '/api/v1/cost')
      expect([json.runs_on, json.dollars, json.used.requests, 'free_plan' in json]).toEqual([
        'this machine',
        null,
        1,
        false,
      ])
    })
  })
}
