import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSqlNotices } from '../../src/adapters/sql/stores/maintenance/notices'
import { createSqlScheduleJournal } from '../../src/adapters/sql/stores/maintenance/schedule-journal'
import { DAY_MS } from '../../src/domain/time'
import type { Notice } from '../../src/ports/notices'
import { noticeStep } from '../../src/services/maintenance/notice-step'
import { migrate } from '../support/bindings'
import { onPostgres, runSql, withSqlConnection } from '../support/direct-sql'
import { claudeCode, PLACE } from '../support/hook-events'
import { openWorld } from '../support/isolation'
import { TestClock } from '../support/scope'

/** Notices for the operator (operate contract §4), on every database. */
export function noticesContract(): void {
  describe('notices', () => {
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })

    it('[OPERATE-185] report each condition once, again after a day while it holds, and again when it returns', async () => {
      const world = openWorld()
      const { clock } = world
      const [busy, calm] = [await world.makeOrg(), await world.makeOrg()]
      const its = claudeCode('waiting')
      const events = [its.start(), its.prompt('find the giraffe'), its.edit('a.ts'), its.stop(), its.end()]
      await world.http(busy.secret, 'POST', '/api/v1/hooks/claude-code', {
        events: events.map((event) => ({ ...event, place: PLACE, at: clock.now() - 1000 })),
      })
      await world.settle()
      clock.advance(3_600_000)
      await world.services.schedule.run()
      await runSql(
        sql`INSERT INTO outbox (org, topic, key, state, created_at, due_at) VALUES (${busy.org}, 'x', 'y', 'failed', 1, 1)`,
      )
      for (let i = 0; i < 4; i++)
        await world.ok(busy, 'store_context', { thread_id: `t${i}`, source: 'agent', text: `text ${i}` })
      await withSqlConnection(async (connection) => {
        const notices = createSqlNotices(connection, { entries: 6, bytes: 1_000_000_000 }, clock, true)
        const sent: Notice[][] = []
        let fails = true
        const step = noticeStep({
          ...{ notices, clock },
          webhook: {
            async send(all) {
              if (fails) throw new Error('the webhook answered with status 500')
              sent.push(all.filter(({ org }) => org === busy.org || org === calm.org))
            },
          },
        })
        const run = async () => {
          await step.round(null)
          return sent.at(-1)?.map(({ event, value, limit }) => [event, value, limit])
        }
        await expect(run()).rejects.toThrow('status 500')
        fails = false
        const all = [
          ['quota.entries', 5, 6],
          ['review.waiting', 1, null],
          ['work.failed', 1, null],
        ]
        expect(await run()).toEqual(all)
        sent.length = 0
        expect((await run()) ?? []).toEqual([])
        await runSql(sql`UPDATE outbox SET state = 'pending' WHERE org = ${busy.org} AND topic = 'x'`)
        expect((await run()) ?? []).toEqual([])
        await runSql(sql`UPDATE outbox SET state = 'failed' WHERE org = ${busy.org} AND topic = 'x'`)
        expect(await run()).toEqual([['work.failed', 1, null]])
        clock.advance(DAY_MS)
        expect((await run())?.map(([event]) => event)).toEqual(['quota.entries', 'review.waiting', 'work.failed'])
      })
      await runSql(sql`DELETE FROM outbox WHERE org = ${busy.org}`)
    })

    it('[OPERATE-190] the schedule records a backup only where a bucket is bound', async () => {
      const recorded = () =>
        withSqlConnection(
          async (connection) => (await createSqlScheduleJournal(connection).read()).get('backup') ?? null,
        )
      await runSql(sql`DELETE FROM schedule WHERE step = 'backup'`)
      await openWorld({}, undefined, { bindings: { BACKUP_BUCKET: undefined } }).services.schedule.run()
      expect(await recorded()).toBeNull()
      const BACKUP_BUCKET = {
        put: async () => {},
        get: async () => null,
        list: async () => ({ objects: [], delimitedPrefixes: [] }),
      }
      const world = openWorld({}, undefined, { bindings: { BACKUP_BUCKET } })
      await world.makeOrg()
      await world.services.schedule.run()
      expect(await recorded()).not.toBeNull()
      await runSql(sql`DELETE FROM schedule WHERE step = 'backup'`)
    })

    it('[OPERATE-190] report late backups of a bound bucket: after two days, and a first one that fails for an hour', async () => {
      const clock = new TestClock()
      await withSqlConnection(async (connection) => {
        const journal = createSqlScheduleJournal(connection)
        const due = async (hasBackups = true) =>
          (await createSqlNotices(connection, { entries: null, bytes: null }, clock, hasBackups).due(0, 100)).filter(
            ({ event }) => event === 'backup.late',
          )
        const write = (finishedAt: number | null, failures = 0) =>
          journal.write('backup', { cursor: null, finishedAt, failures, lastError: null })
        await write(clock.now() - 2 * DAY_MS)
        expect(await due()).toEqual([])
        await write(clock.now() - 2 * DAY_MS - 3_700_000)
        expect(await due()).toEqual([{ org: null, event: 'backup.late', value: 49, limit: 48 }])
        expect(await due(false)).toEqual([])
        const notices = createSqlNotices(connection, { entries: null, bytes: null }, clock, true)
        await notices.markSent(await due())
        expect((await notices.due(clock.now() - 1, 100)).filter(({ event }) => event === 'backup.late')).toEqual([])
        await write(clock.now())
        expect(await due()).toEqual([])
        await write(null, 11)
        expect(await due()).toEqual([])
        await write(null, 12)
        expect(await due()).toEqual([{ org: null, event: 'backup.late', value: null, limit: 48 }])
      })
      await runSql(sql`DELETE FROM schedule WHERE step = 'backup'`)
    })
  })
}
