import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSqlEntryStore } from '../../src/adapters/sql/entries/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/history/history'
import { createSqlReceipts } from '../../src/adapters/sql/history/receipts'
import { createSqlRetention } from '../../src/adapters/sql/keeping/retention'
import type { JsonObject } from '../../src/domain/entry/metadata'
import type { Caller } from '../../src/domain/identity/scope'
import { WITHOUT_REST } from '../../src/domain/pace'
import { NO_QUOTAS } from '../../src/domain/quota'
import type { Restoration } from '../../src/ports/history'
import type { ToolContext } from '../../src/tools/context'
import { carryOutOnce } from '../../src/tools/idempotency'
import { promise } from '../requirements/history'
import { entryOf, freshPrincipal } from '../support/scope'
import type { HistoryUnderTest } from './history-store'

const HOUR = 3_600_000
const terms = { days: 30, receiptHours: 24 }

/** What comes back with an entry, what is kept of nothing, and where what is kept ends (history contract §2, §3). */
export function restoringContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} restores`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    let n = 0
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const store = () =>
      createSqlEntryStore(made.connection, made.analyzer, made.clock, new Set(), undefined, NO_QUOTAS, terms)
    const history = () => createSqlHistory(made.connection, made.analyzer, made.clock, WITHOUT_REST, NO_QUOTAS, terms)
    const call = (): Caller => ({ ...ada, changeId: `call ${n++}` })
    const rows = async (query: SQL) => (await made.connection.batch([query]))[0] ?? []
    const save = async (metadata: JsonObject = {}) => {
      const [saved] = await store().save(call(), [await entryOf(ada, { metadata })], { dedupe: false })
      return saved?.id as number
    }
    const restore = async (what: Restoration) => {
      const { kept } = await history().restorable(ada, what, { limit: 9, maxBytes: 99_999 })
      return history().restore(
        call(),
        kept,
        kept.map(() => null),
      )
    }

    it(promise('h3-restore-links'), async () => {
      const [base, gone, target] = [await save(), await save(), await save()]
      const middle = await save({ references: { context_ids: [base, gone] } })
      const above = await save({ depends_on: [middle] })
      // Links that others made, to what stays and to what goes.
      for (const to of [target, gone])
        await made.connection.batch([
          sql`INSERT INTO links (org, from_id, relation, to_id, origin) VALUES (${ada.org}, ${middle}, 'supports', ${to}, 'remember')`,
        ])
      const links = async () =>
        (await rows(sql`SELECT from_id, relation, to_id, origin FROM links WHERE org = ${ada.org}`))
          .map(({ from_id, relation, to_id, origin }) => `${from_id} ${relation} ${to_id} ${origin}`)
          .toSorted()
      const all = await links()
      expect(all).toHaveLength(5)
      const stays = all.filter((link) => !link.includes(` ${gone} `))
      await store().delete(call(), { ids: [middle] })
      expect(await links()).toEqual([])
      await store().delete(call(), { ids: [gone] })
      await restore({ ids: [middle] })
      expect(await links()).toEqual(stays)
      // Entries that go together and come back together keep what was between them.
      const undone = call()
      await store().delete(undone, { ids: [above, middle, base] })
      expect(await links()).toEqual([])
      await restore({ changeId: undone.changeId })
      expect(await links()).toEqual(stays)
    })

    it(promise('h3-nothing-kept'), async () => {
      const id = await save()
      await store().patch(call(), id, { n: 1 })
      const counted = () =>
        rows(sql`
          SELECT (SELECT count(*) FROM entry_versions WHERE org = ${ada.org}) AS versions,
            (SELECT count(*) FROM changes WHERE org = ${ada.org}) AS changes, e.version, e.updated_at
          FROM entries e WHERE e.id = ${id}`)
      const before = await counted()
      const [row] = await rows(sql`SELECT text_hash FROM entries WHERE id = ${id}`)
      await store().summarize({ id, textHash: row?.text_hash as string }, 'a summary')
      await made.connection.batch([
        sql`UPDATE entries SET accessed_at = ${made.clock.now()}, access_count = access_count + 1 WHERE id = ${id}`,
      ])
      await made.connection.batch([sql`DELETE FROM entry_vectors WHERE entry_id = ${id}`])
      expect((await store().read(ada, [id]))[0]).toMatchObject({ summary: 'a summary', version: 2 })
      expect(await counted()).toEqual(before)
    })

    it(promise('h2-hours'), async () => {
      const id = await save()
      const services = { receipts: createSqlReceipts(made.connection, made.clock, terms) }
      const patch = async (looksFirst: boolean) => {
        const context = { principal: call(), services } as unknown as ToolContext
        const { replayed } = await carryOutOnce(context, { key: 'k', args: {}, looksFirst }, async (caller) => ({
          version: await store().patch(caller, id, { n: made.clock.now() }),
        }))
        return replayed
      }
      const told: boolean[] = []
      for (const looksFirst of [true, false]) {
        told.push(await patch(looksFirst))
        made.clock.advance(24 * HOUR - 1)
        told.push(await patch(looksFirst))
        made.clock.advance(1)
      }
      // Although no schedule has come in between.
      expect(told).toEqual([false, true, false, true])
      expect((await store().read(ada, [id]))[0]?.version).toBe(3)
    })

    it(promise('h3-purged'), async () => {
      const id = await save()
      await store().delete(call(), { ids: [id] })
      const window = { limit: 9, offset: 0 }
      expect((await history().versions(ada, id, window))?.total).toBe(2)
      made.clock.advance(31 * 24 * HOUR)
      const { forgetVersions } = createSqlRetention(made.connection, made.clock, terms)
      while ((await forgetVersions(50)) > 0);
      const nothing = [await history().versions(ada, id, window), await history().state(ada, id, 1)]
      const { kept, standing } = await history().restorable(ada, { ids: [id] }, { limit: 9, maxBytes: 9999 })
      expect([...nothing, kept, standing]).toEqual([null, null, [], []])
    })
  })
}
