import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlLastSeen } from '../../src/adapters/sql/stores/memories/last-seen'
import type { Caller } from '../../src/domain/identity/scope'
import { createOrient, type OrientRequest } from '../../src/services/searching/memories/orient'
import { freshPrincipal, type TestClock } from '../support/scope'
import type { Ground } from './keeping/world'
import { Fragile, worldOf } from './memory-life'

const MINUTE = 60_000

/** Visitors and new memories since their last visit (fabric contract §6), with a clock that the test owns. */
export function orientationContract(name: string, make: () => Promise<Pick<Ground, 'connection' | 'clock'>>): void {
  describe(`${name} keeps who was last here`, () => {
    let connection: SqlConnection
    let clock: TestClock
    let trips = 0
    let orient: ReturnType<typeof createOrient>
    let memories: ReturnType<typeof worldOf>
    let ada: Caller
    beforeEach(async () => {
      ;({ connection, clock } = await make())
      const counted: SqlConnection = {
        ...connection,
        batch: (...batch) => {
          trips++
          return connection.batch(...batch)
        },
      }
      orient = createOrient({ sightings: createSqlLastSeen(counted, clock), clock })
      memories = worldOf(connection, clock, new Fragile(), 'fail')
      ada = freshPrincipal()
    })

    const visit = (request: Partial<OrientRequest> = {}, who: Caller = ada) =>
      orient(who, { timezone: 'UTC', project: 'apollo', sessionId: null, expression: '', also: null, ...request })
    const store = (content: string, layer: 1 | 2 | 3 = 2, projectPath: string | null = 'apollo', who: Caller = ada) =>
      memories.store(who, { type: 'decision', content, layer, metadata: projectPath === null ? {} : { projectPath } })
    const rows = async (what: ReturnType<typeof sql>) => (await connection.batch([what]))[0] ?? []

    it('[FABRIC-84, FABRIC-153] stores the last visit by owner and project, moved only by a call that succeeded', async () => {
      await store('before anybody came')
      expect(await visit()).toMatchObject({ absence: null, recent: [{ content: 'before anybody came' }] })
      clock.advance(42 * MINUTE)
      const back = await visit({ timezone: '+05:45' })
      expect(back.absence).toEqual({
        ...{ durationMs: 42 * MINUTE, durationHuman: '42 minutes', memoriesAdded: 0 },
        ...{ from: '2026-11-20T14:45:00.000+05:45', to: '2026-11-20T15:27:00.000+05:45' },
      })
      clock.advance(MINUTE)
      // Another project, none at all, another owner and another org were never here.
      const strangers = [freshPrincipal({ org: ada.org, owner: 'bob' }), freshPrincipal()]
      for (const unknown of [
        visit({ project: 'zeus' }),
        visit({ project: null }),
        ...strangers.map((who) => visit({}, who)),
      ])
        expect((await unknown).absence).toBeNull()
      const another = freshPrincipal({ org: ada.org, keyId: 'key-2', projects: ['apollo'] })
      expect((await visit({}, another)).absence?.durationMs).toBe(MINUTE)
      clock.advance(-30 * MINUTE)
      expect((await visit()).absence?.durationMs).toBe(0)
      clock.advance(31 * MINUTE)
      // A clock that went back takes no mark with it.
      expect((await visit()).absence?.durationMs).toBe(MINUTE)
    })

    it('[FABRIC-84] counts from the mark of the session, else from the newest of that owner and agent; a call with an expression is not a visit', async () => {
      const away = async (request: Partial<OrientRequest> = {}, who: Caller = ada) =>
        (await visit(request, who)).absence?.durationMs ?? null
      expect(await away({ sessionId: 'one' })).toBeNull()
      clock.advance(MINUTE)
      // A new session, and a call without one, count from the newest visit; a known session from its own.
      expect(await away({ sessionId: 'two' })).toBe(MINUTE)
      clock.advance(MINUTE)
      expect(await away({ sessionId: 'one' })).toBe(2 * MINUTE)
      clock.advance(MINUTE)
      expect([await away(), await away({ sessionId: 'two' })]).toEqual([MINUTE, 2 * MINUTE])
      const other = freshPrincipal({ org: ada.org, agent: 'codex' })
      expect(await away({ sessionId: 'one' }, other)).toBeNull()
      // A call with a work context is not a visit.
      clock.advance(MINUTE)
      const asked = await visit({ expression: 'tomorrow', sessionId: 'two' })
      expect(asked).toMatchObject({ absence: null, recent: [], resolved: expect.anything() })
      expect(asked.summary).toMatch(/Project: apollo\.$/)
      expect(await away({ sessionId: 'two' })).toBe(MINUTE)
    })

    it('[FABRIC-83] names every bad zone and the forms of an expression at once, and then moves no last-seen mark', async () => {
      await visit()
      clock.advance(MINUTE)
      const bad = visit({ timezone: 'Mars/Base', also: ['UTC', 'nowhere'], expression: 'someday' })
      await expect(bad).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/Mars\/Base.*nowhere.*one of: now, today.*epoch milliseconds/),
        details: [{ path: 'timezone' }, { path: 'also[1]' }, { path: 'expression' }],
      })
      const failing = createSqlLastSeen({ ...connection, batch: () => Promise.reject(new Error('gone')) }, clock)
      const half = createOrient({ sightings: { ...createSqlLastSeen(connection, clock), note: failing.note }, clock })
      const request = { timezone: 'UTC', project: 'apollo', sessionId: null, expression: '', also: null }
      await expect(half(ada, request)).rejects.toThrow('gone')
      clock.advance(MINUTE)
      expect((await visit()).absence?.durationMs).toBe(2 * MINUTE)
    })

    it('[FABRIC-86, FABRIC-153] counts new memories of layers 2 and 3 of the project, or of all without one, and shows the newest ten, captured ones in free places', async () => {
      await store('old')
      await visit()
      await visit({ project: null })
      const bob = freshPrincipal({ org: ada.org, owner: 'bob' })
      // In the same millisecond, and by a store that began before and was done after.
      clock.advance(-MINUTE)
      await store('first', 2, 'apollo', bob)
      clock.advance(MINUTE)
      await store('second', 3)
      clock.advance(MINUTE)
      await store('third')
      await store('working', 1)
      await store('of zeus', 2, 'zeus')
      await store('of zeus for all', 3, 'zeus')
      await store('of none', 2, null)
      const hidden = {
        type: 'decision',
        content: 'own',
        metadata: { projectPath: 'apollo', audience: 'private' },
      } as const
      await memories.store(bob, hidden)
      const found = await visit()
      expect(found.recent.map(({ content }) => content)).toEqual(['first', 'second', 'third'])
      expect(found.absence?.memoriesAdded).toBe(3)
      expect(found.recent[2]).toMatchObject({ kind: 'decision', createdAt: clock.ms, tags: [] })
      expect((await visit()).recent).toEqual([])
      const everywhere = await visit({ project: null })
      expect(everywhere.absence?.memoriesAdded).toBe(6)
      const narrowed = freshPrincipal({ org: ada.org, owner: 'eve', projects: ['apollo'] })
      await visit({ project: null }, narrowed)
      await store('of zeus again', 2, 'zeus')
      await store('🦊'.repeat(300))
      const [seen, ...others] = (await visit({ project: null }, narrowed)).recent
      // One code point more than the hundred that are shown signals that there is more.
      expect([seen?.content, others]).toEqual(['🦊'.repeat(101), []])
      await visit()
      for (let i = 0; i < 12; i++) await store(`new ${i}`)
      const captured = { type: 'decision', content: 'seen by itself', metadata: { projectPath: 'apollo' } } as const
      await memories.store(ada, { ...captured, metadata: { ...captured.metadata, source: 'system_auto' } })
      const many = await visit()
      expect([many.absence?.memoriesAdded, many.recent.length]).toEqual([13, 10])
      expect([many.recent[0]?.content, many.recent[9]?.content]).toEqual(['new 2', 'new 11'])
      for (const content of ['captured', 'written']) await store(content).then(() => clock.advance(MINUTE))
      await memories.store(ada, {
        ...captured,
        ...{ content: 'captured last', metadata: { projectPath: 'apollo', source: 'system_auto' } },
      })
      // Where there is room, in the order in which they came.
      expect((await visit()).recent.map(({ content }) => content)).toEqual(['captured', 'written', 'captured last'])
    })

    it('[FABRIC-88, FABRIC-173] makes two round trips for any number of new memories, none to resolve a moment, and stores at most a thousand marks an owner', async () => {
      await visit()
      await store('one')
      trips = 0
      await visit({ also: ['Asia/Tokyo', 'Asia/Kathmandu'] })
      expect(trips).toBe(2)
      await visit({ expression: 'next monday' })
      expect(trips).toBe(2)
      await connection.batch([
        sql`
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
          INSERT INTO last_seen (org, owner, agent, project, session, seen_at, last_id)
          SELECT CAST(${ada.org} AS TEXT), 'ada', '', 'p' || i, '', i, 0 FROM n`,
      ])
      await visit()
      const kept = await rows(sql`SELECT project FROM last_seen WHERE org = ${ada.org} ORDER BY seen_at DESC`)
      expect([kept.length, kept[0]?.project, kept[999]?.project]).toEqual([1000, 'apollo', 'p102'])
    })
  })
}
