import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSqlEntryStore } from '../../../src/adapters/sql/stores/entries/entry-store'
import { createSqlRetention } from '../../../src/adapters/sql/stores/maintenance/retention'
import type { Caller } from '../../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../../src/domain/quota'
import { createSchedule, type Step } from '../../../src/services/maintenance/schedule'
import { scheduleSteps } from '../../../src/services/maintenance/steps'
import { base64, entryOf, freshPrincipal, pngBytes } from '../../support/scope'
import { type Ground, type KeepingWorld, keepingWorld } from './world'

const DAY = 24 * 3_600_000
const PAGE = { limit: 100, offset: 0, previewLength: 10 }

/** The schedule works in bounded batches that continue where they stopped, each step independently. */
export function scheduleContract(name: string, make: () => Promise<Ground>): void {
  describe(`${name} keeps house`, () => {
    let world: KeepingWorld
    let ada: Caller
    let logged: [string, Record<string, unknown>][]
    beforeAll(async () => {
      world = keepingWorld(await make())
    })
    beforeEach(async () => {
      await world.empty()
      ada = freshPrincipal()
      logged = []
    })
    const running = (steps: readonly Step[]) =>
      createSchedule({
        steps,
        journal: world.journal,
        clock: world.clock,
        log: (event, fields) => logged.push([event, fields]),
      })
    const unique = () => `step ${crypto.randomUUID()}`
    /** A step that counts to a number, one a round. */
    const counting = (name: string, end: number, seen: (string | null)[], settings: Partial<Step> = {}): Step => ({
      name,
      every: DAY,
      rounds: 2,
      round: async (cursor) => {
        seen.push(cursor)
        const at = Number(cursor ?? 0) + 1
        return { done: 1, next: at < end ? String(at) : null }
      },
      ...settings,
    })
    const house = () =>
      running(
        scheduleSteps({
          ...world,
          work: world.clean,
          outbox: world.outbox,
          images: world.images,
          generation: null,
          embedCode: async () => 0,
          changesDays: 30,
          auditDays: 365,
        }),
      )

    it('by steps that continue in the next run where their budget ended, and stop once they are done', async () => {
      const seen: (string | null)[] = []
      const { run } = running([counting(unique(), 5, seen)])
      await run()
      expect(seen).toEqual([null, '1'])
      await run()
      await run()
      expect(seen).toEqual([null, '1', '2', '3', '4'])
      await run()
      expect(seen.length).toBe(5)
      world.clock.advance(DAY)
      await run()
      expect(seen.slice(5)).toEqual([null, '1'])
    })

    it('by steps that stop no other when they fail, and begin again where the last good round ended', async () => {
      const seen: (string | null)[] = []
      const [bad, good] = [unique(), unique()]
      let broken = true
      const failing = counting(bad, 9, [], {
        round: async (cursor) => {
          if (cursor === '1' && broken) throw new Error('no bucket')
          return { done: 1, next: cursor === null ? '1' : null }
        },
      })
      const { run } = running([failing, counting(good, 2, seen)])
      await run()
      await run()
      expect(seen).toEqual([null, '1'])
      expect((await world.journal.read()).get(bad)).toMatchObject({ cursor: '1', failures: 2, lastError: 'no bucket' })
      expect(logged).toContainEqual(['schedule_step_failed', { step: bad, message: 'no bucket' }])
      broken = false
      await run()
      expect((await world.journal.read()).get(bad)).toMatchObject({
        cursor: null,
        finishedAt: world.clock.ms,
        failures: 0,
        lastError: null,
      })
    })

    it('by steps that go on with another part where one fails, which counts as a failure', async () => {
      const step = unique()
      const seen: (string | null)[] = []
      const { run } = running([
        {
          ...{ name: step, every: DAY, rounds: 5 },
          round: async (cursor) => {
            seen.push(cursor)
            return { done: 1, next: `${seen.length}`, ...(cursor === '1' ? { problem: 'no bucket' } : {}) }
          },
        },
      ])
      await run()
      expect(seen).toEqual([null, '1'])
      expect((await world.journal.read()).get(step)).toMatchObject({ cursor: '2', failures: 1, lastError: 'no bucket' })
      expect(logged).toContainEqual(['schedule_step_failed', { step, message: 'no bucket' }])
      await run()
      expect(seen.slice(2, 4)).toEqual(['2', '3'])
      expect((await world.journal.read()).get(step)).toMatchObject({ failures: 0, lastError: null })
    })

    it('helped along by requests where searches miss something, one unfinished step after the other', async () => {
      const [words, vectors]: [(string | null)[], (string | null)[]] = [[], []]
      const { catchUp, run } = running([
        counting(unique(), 3, words, { rounds: 2, missed: 'words' }),
        counting(unique(), 9, []),
        counting(unique(), 3, vectors, { rounds: 4, missed: 'vectors' }),
      ])
      expect(await catchUp()).toEqual(['words', 'vectors'])
      expect([await catchUp(), await catchUp()]).toEqual([['words', 'vectors'], ['vectors']])
      expect([words, vectors]).toEqual([
        [null, '1', '2'],
        [null, '1'],
      ])
      expect(await catchUp()).toEqual([])
      expect(await catchUp()).toEqual([])
      world.clock.advance(DAY)
      expect(await catchUp()).toEqual([])
      await run()
      expect([words.length, vectors.length]).toEqual([5, 6])
    })

    it('removing expired entries in bounded parts, whosever they are', async () => {
      const soon = new Date(world.clock.ms + 1250).toISOString()
      const drafts = Array.from({ length: 100 }, () => entryOf(ada, { metadata: { expires_at: soon } }))
      for (let i = 0; i < 3; i++) await world.entries.save(ada, await Promise.all(drafts))
      const [stays] = await world.entries.save(ada, [await entryOf(ada)])
      world.clock.advance(1249)
      expect(await world.retention.expireEntries(50)).toBe(0)
      world.clock.advance(1)
      expect(await world.retention.expireEntries(50)).toBe(50)
      await house().run()
      const [rows] = await world.connection.batch([sql`SELECT id FROM entries WHERE org = ${ada.org}`])
      expect(rows).toEqual([{ id: stays?.id }])
    })

    it('removing no more bytes of expired entries and old states in one transaction than it takes in a moment', async () => {
      while ((await world.retention.expireEntries(1000)) > 0);
      const { clock, connection } = world
      const draft = await entryOf(ada, { metadata: { expires_at: new Date(clock.ms + DAY).toISOString() } })
      const saved = await world.entries.save(ada, [draft, draft, draft], { dedupe: false })
      const ids = JSON.stringify(saved.map(({ id }) => id))
      const own = sql`IN (SELECT value FROM ${connection.dialect.jsonNumbers(sql`${ids}`)})`
      await connection.batch([sql`UPDATE entries SET bytes = 2000000 WHERE id ${own}`])
      clock.advance(2 * DAY)
      expect([await world.retention.expireEntries(9), await world.retention.expireEntries(9)]).toEqual([2, 1])

      const terms = { days: 1, receiptHours: 1 }
      const retention = createSqlRetention(connection, clock, terms)
      const keeping = createSqlEntryStore(connection, world.analyzer, clock, new Map(), NO_QUOTAS, terms)
      while ((await retention.forgetVersions(1000)) > 0);
      const kept = await keeping.save(ada, [await entryOf(ada), await entryOf(ada), await entryOf(ada)], {
        dedupe: false,
      })
      await keeping.delete(ada, { ids: kept.map(({ id }) => id) })
      await connection.batch([sql`UPDATE entry_versions SET bytes = 10000000 WHERE org = ${ada.org}`])
      clock.advance(2 * DAY)
      expect([await retention.forgetVersions(9), await retention.forgetVersions(9)]).toEqual([2, 1])
    })

    it('forgetting the change log of before, oldest first, but never its newest row', async () => {
      world.clock.advance(DAY)
      const [old] = await world.entries.save(ada, [await entryOf(ada)])
      for (let i = 0; i < 4; i++) await world.entries.patch(ada, old?.id as number, { i })
      world.clock.advance(40 * DAY)
      const [saved] = await world.entries.save(ada, [await entryOf(ada)])
      const count = async () => {
        const [rows] = await world.connection.batch([
          sql`SELECT count(*) AS n FROM changes WHERE at < ${world.clock.ms - 30 * DAY}`,
        ])
        return Number(rows?.[0]?.n)
      }
      const before = await count()
      expect(before).toBeGreaterThanOrEqual(5)
      expect(await world.retention.forgetChanges(world.clock.ms - 30 * DAY, 2)).toBe(2)
      expect(await count()).toBe(before - 2)
      await house().run()
      expect(await count()).toBe(0)
      const [newest] = await world.connection.batch([sql`SELECT entry_id FROM changes ORDER BY seq DESC LIMIT 1`])
      expect(newest?.[0]?.entry_id).toBe(saved?.id)
    })

    it('looking for objects that no entry uses page by page, from where the last run stopped', async () => {
      world.clock.ms = Math.max(world.clock.ms, Date.now()) + 2 * DAY
      const orphans = Array.from({ length: 3 }, (_, i) => pngBytes(`orphan ${i}`))
      for (const bytes of orphans) {
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
        const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
        await world.images.put(ada, { hash, mimeType: 'image/png', bytes })
      }
      await world.store(ada, base64(pngBytes('used')))
      const cursors: (string | null)[] = []
      const images = {
        ...world.images,
        // Pages of one object, so that there are several.
        list: async (cursor: string | null) => {
          cursors.push(cursor)
          const page = await world.images.list(cursor)
          const [first] = page.objects
          const more = first !== undefined && (page.objects.length > 1 || page.cursor !== null)
          return { objects: page.objects.slice(0, 1), cursor: more ? `${first.org}/${first.hash}` : null }
        },
      }
      const steps = scheduleSteps({
        ...world,
        work: world.clean,
        images,
        generation: null,
        embedCode: async () => 0,
        changesDays: 30,
        auditDays: 365,
      })
      const { run } = running(steps.filter(({ name }) => name === 'orphaned images'))
      for (let i = 0; i < 100; i++) {
        const before = cursors.length
        await run()
        if (cursors.length === before) break
      }
      expect(cursors.length).toBe(new Set(cursors).size)
      await world.clean(20)
      expect(await world.objects(ada.org)).toBe(1)
      expect(await world.missing(ada.org)).toEqual([])
      expect((await world.entries.page(ada, { op: 'contentType', is: 'multimodal' }, PAGE)).total).toBe(1)
    })
  })
}
