import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/entry-store'
import { createSqlReceipts } from '../../src/adapters/sql/receipts'
import { createSqlRetention } from '../../src/adapters/sql/retention'
import type { Analyzer } from '../../src/domain/analysis'
import type { HistoryTerms } from '../../src/domain/history/terms'
import { NO_QUOTAS } from '../../src/domain/quota'
import type { Caller } from '../../src/domain/scope'
import { promise } from '../requirements/history'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface HistoryUnderTest {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

const DAY = 86_400_000

/** What is kept of changes and calls, for how long, and what it costs (history contract §3, §5). */
export function historyStoreContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} keeps what was`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const store = (terms: HistoryTerms) =>
      createSqlEntryStore(made.connection, made.analyzer, made.clock, new Set(), undefined, NO_QUOTAS, terms)
    const counts = async () => {
      const of = (table: string) => sql`SELECT count(*) AS n FROM ${sql.raw(table)} WHERE org = ${ada.org}`
      const tables = ['entry_versions', 'changes', 'receipts']
      const rows = await made.connection.batch(tables.map(of))
      return rows.map(([row]) => Number(row?.n))
    }
    const stored = async (terms: HistoryTerms) => {
      const [saved] = await store(terms).save(ada, [await entryOf(ada)])
      return saved?.id as number
    }
    const patch = (terms: HistoryTerms, id: number, caller = ada) =>
      store(terms).patch(caller, id, { n: Math.random() })

    it(promise('h5-off'), async () => {
      const off = { days: 0, receiptHours: 24 }
      const id = await stored(off)
      await patch(off, id)
      await store(off).delete(ada, { ids: [id] })
      expect(await counts()).toEqual([0, 3, 0])
    })

    it(promise('h5-cost'), async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      const receipt = { key: 'k', digest: 'd' }
      const before = await counts()
      await patch(terms, id, { ...ada, receipt, changeId: 'c' })
      expect((await counts()).map((n, i) => n - (before[i] as number))).toEqual([1, 1, 1])
      await expect(patch(terms, id, { ...ada, receipt, changeId: 'other' })).rejects.toThrow('idempotency_key')
      expect((await counts()).map((n, i) => n - (before[i] as number))).toEqual([1, 1, 1])
    })

    it(promise('h3-retention'), async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      await patch(terms, id, { ...ada, receipt: { key: 'k', digest: 'd' } })
      made.clock.advance(29 * DAY)
      await patch(terms, id)
      const retention = createSqlRetention(made.connection, made.clock, terms)
      const all = async (step: (limit: number) => Promise<number>) => {
        while ((await step(50)) > 0);
      }
      await all(retention.forgetVersions)
      await all(retention.forgetReceipts)
      expect((await counts())[0]).toBe(2)
      expect(await createSqlReceipts(made.connection, made.clock, terms).find(ada, 'k')).toBeNull()
      expect((await counts())[2]).toBe(0)
      made.clock.advance(2 * DAY)
      await all(retention.forgetVersions)
      expect((await counts())[0]).toBe(1)
      made.clock.advance(40 * DAY)
      await all(retention.forgetVersions)
      expect((await counts())[0]).toBe(0)
      const [usage] = await made.connection.batch([
        sql`SELECT part, items, bytes FROM org_usage WHERE org = ${ada.org} AND part IN ('versions', 'receipts')`,
      ])
      for (const row of usage ?? []) expect([Number(row.items), Number(row.bytes)]).toEqual([0, 0])
    })
  })
}
