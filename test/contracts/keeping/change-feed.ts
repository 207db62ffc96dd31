import { type SQL, sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSqlChangeFeed } from '../../../src/adapters/sql/stores/history/change-feed'
import type { JsonObject } from '../../../src/domain/entry/metadata'
import { UNFILTERED_FEED } from '../../../src/domain/history/feed'
import type { Caller, Scope } from '../../../src/domain/identity/scope'
import type { ChangeFeed, FeedStart } from '../../../src/ports/history'
import { entryOf, freshPrincipal } from '../../support/scope'
import { type Ground, type KeepingWorld, keepingWorld } from './world'

const DAY = 24 * 3_600_000

/** Effects of the schedule on the feed: it reports expired entries, and deletes old changes (history contract §4, §5). */
export function feedKeepingContract(name: string, make: () => Promise<Ground>): void {
  describe(`${name} keeps the feed`, () => {
    let world: KeepingWorld
    let feed: ChangeFeed
    let ada: Caller
    beforeAll(async () => {
      world = keepingWorld(await make())
      // Later than whatever other suites of this database have stored: the log is forgotten from its beginning.
      world.clock.advance(400 * DAY)
      feed = createSqlChangeFeed(world.connection, world.clock)
    })
    beforeEach(async () => {
      await world.empty()
      ada = freshPrincipal()
    })
    const save = async (by: Caller, draft: { metadata?: JsonObject } = {}): Promise<number> => {
      const [saved] = await world.entries.save(by, [await entryOf(by, { source: 'agent', ...draft })], {
        dedupe: false,
      })
      return saved?.id as number
    }
    const told = async (scope: Scope, from: FeedStart = 'start') =>
      (await feed.page(scope, UNFILTERED_FEED, from, 50)).changes.map(({ action, entryId }) => `${action} ${entryId}`)

    it('[HISTORY-55] lists expired and archived entries as deleted and returning ones as stored, when the schedule notes it', async () => {
      const ends = await save(ada, { metadata: { expires_at: new Date(world.clock.ms + 1000).toISOString() } })
      const fades = await save(ada)
      const { next } = await feed.page(ada, UNFILTERED_FEED, 'now', 1)
      world.clock.advance(2000)
      // Before the schedule runs, lists no longer show it, and the feed has not reported that yet.
      expect(await told(ada, next)).toEqual([])
      while ((await world.retention.expireEntries(100)) > 0);
      expect(await told(ada, next)).toEqual([`deleted ${ends}`])
      const set = (what: SQL) =>
        world.connection.batch([sql`UPDATE entries SET ${what} WHERE id = ${fades}`], { org: ada.org })
      await set(sql`layer = 3, created_at = created_at - ${100 * DAY}, accessed_at = NULL`)
      for (let after: number | null = 0; after !== null; )
        ({ last: after } = await world.retention.archiveDecayed(after, 500))
      await world.entries.patch(ada, fades, { unseen: 1 })
      await set(sql`archived = 0`)
      expect(await told(ada, next)).toEqual([`deleted ${ends}`, `deleted ${fades}`, `stored ${fades}`])
      // An entry that has expired when it is stored never existed.
      const past = new Date(world.clock.ms - 1000).toISOString()
      const never = await save(ada, { metadata: { expires_at: past } })
      expect((await told(ada, next)).filter((item) => item.endsWith(` ${never}`))).toEqual([])
    })

    it('[HISTORY-48] refuses a cursor older than the retained changes, and states how to start again', async () => {
      const other = freshPrincipal()
      const [a] = [await save(ada), await save(other)]
      const { next: early } = await feed.page(ada, UNFILTERED_FEED, 'start', 1)
      await save(ada)
      const quiet = (await feed.page(other, UNFILTERED_FEED, 'now', 1)).next
      const late = (await feed.page(ada, UNFILTERED_FEED, 'now', 1)).next
      world.clock.advance(60 * DAY)
      const last = await save(ada)
      while ((await world.retention.forgetChanges(world.clock.ms - 30 * DAY, 1000)) > 0);
      const stale = { code: 'invalid_input', details: { resync_from: 'list' } }
      await expect(feed.page(ada, UNFILTERED_FEED, early, 10)).rejects.toMatchObject(stale)
      await expect(feed.page(ada, UNFILTERED_FEED, late + 1_000_000, 10)).rejects.toMatchObject(stale)
      // A reader who had seen everything that was deleted has missed nothing, also if all of it was deleted.
      expect(await told(ada, late)).toEqual([`stored ${last}`])
      expect(await told(other, quiet)).toEqual([])
      expect(await told(ada)).toEqual([`stored ${last}`])
      expect((await feed.page(other, UNFILTERED_FEED, 'now', 1)).next).toBeGreaterThanOrEqual(quiet)
      expect(a).toBeLessThan(last)
    })
  })
}
