import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import type { AuditEvent } from '../../src/domain/identity/audit'
import type { Caller } from '../../src/domain/identity/scope'
import type { AuditLog } from '../../src/ports/audit-log'
import { freshPrincipal, type TestClock } from '../support/scope'

export interface AuditUnderTest {
  readonly connection: SqlConnection
  readonly audit: AuditLog
  readonly clock: TestClock
}

const MINUTE = 60_000
const EVENT: AuditEvent = {
  ...{ keyId: 'key-1', agent: null, action: 'context', tool: 'context', ids: [], allowed: true, detail: { items: 1 } },
}

/** The audit log cannot be filled, and does not grow for ever. */
export function auditContract(name: string, make: () => AuditUnderTest): void {
  describe(`${name} bounds the audit log`, () => {
    let made: AuditUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const rows = (org = ada.org) => made.audit.page(org, { after: 0, limit: 2_000 })
    const used = async () => {
      const [counted, truth] = await made.connection.batch([
        sql`SELECT items, bytes FROM org_usage WHERE org = ${ada.org} AND part = 'audit'`,
        sql`SELECT count(*) AS items, sum(${made.connection.dialect.byteLength(sql`ids || detail || action || key_id`)}) AS bytes
          FROM audit WHERE org = ${ada.org}`,
      ])
      const numbers = (row: Record<string, unknown> | undefined) => [Number(row?.items), Number(row?.bytes)]
      expect(numbers(counted?.[0])).toEqual(numbers(truth?.[0]))
      return numbers(truth?.[0])
    }

    it('by one row for all that a key did alike within a minute, with how often and to which entries', async () => {
      const again = (more: Partial<AuditEvent> = {}) => made.audit.recordRepeated(ada.org, { ...EVENT, ...more })
      await again({ ids: [3, 1] })
      await again({ ids: [2, 3] })
      made.clock.advance(MINUTE - 1)
      await again({ ids: [4] })
      expect(await rows()).toMatchObject([{ seq: 1, ids: [1, 2, 3, 4], detail: { items: 1, count: 3 } }])
      made.clock.advance(1)
      await again()
      const others = [{ keyId: 'key-2' }, { action: 'remember' }, { allowed: false }, { tool: null }]
      for (const other of others) await again(other)
      await Promise.all(Array.from({ length: 20 }, () => again({ keyId: 'key-3' })))
      const all = await rows()
      expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
      expect(all.slice(1, 6).map(({ detail }) => detail)).toEqual(Array.from({ length: 5 }, () => ({ items: 1 })))
      expect(all[6]).toMatchObject({ keyId: 'key-3', detail: { items: 1, count: 20 } })
      expect((await used())[0]).toBe(7)
    })

    it('by as many ids in such a row as it has room for', async () => {
      const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
      await made.audit.recordRepeated(ada.org, { ...EVENT, ids: ids(1, 990) })
      await made.audit.recordRepeated(ada.org, { ...EVENT, ids: ids(985, 16) })
      await made.audit.recordRepeated(ada.org, { ...EVENT, ids: ids(2_000, 9) })
      expect(await rows()).toMatchObject([{ ids: ids(1, 1_000), detail: { count: 3 } }])
      await used()
    })

    it('by the days that rows are retained, in parts, without renumbering', async () => {
      const retention = createSqlRetention(made.connection, made.clock)
      // After the organizations of other tests, which would otherwise be scanned one by one.
      const others = 'zz'
      const org = () => ({ org: `${others}-${crypto.randomUUID()}` })
      ada = freshPrincipal(org())
      const bob = freshPrincipal(org())
      made.clock.advance(60 * MINUTE)
      const before = made.clock.now()
      for (let i = 0; i < 5; i++) await made.audit.record(ada.org, EVENT)
      await made.audit.record(bob.org, EVENT)
      made.clock.advance(MINUTE)
      await made.audit.record(bob.org, EVENT)
      const purge = async (until: number, most: number) => {
        const removed: number[] = []
        let last: string | null = others
        while (last !== null) {
          const round: { removed: number; last: string | null } = await retention.forgetAudit(last, until, most)
          removed.push(round.removed)
          last = round.last
        }
        return removed
      }
      const kept = async () => [(await rows()).map(({ seq }) => seq), (await rows(bob.org)).map(({ seq }) => seq)]
      await purge(before, 1_000)
      expect(await kept()).toEqual([
        [1, 2, 3, 4, 5],
        [1, 2],
      ])
      expect(Math.max(...(await purge(before + 1, 2)))).toBe(2)
      expect(await kept()).toEqual([[5], [2]])
      expect((await used())[0]).toBe(1)
      await made.audit.record(ada.org, EVENT)
      expect(await kept()).toEqual([[5, 6], [2]])
    })

    it('and lists its newest rows first, by key, action and outcome', async () => {
      for (const [keyId, action, allowed] of [
        ['key-1', 'context', true],
        ['key-2', 'store_context', true],
        ['key-2', 'store_context', false],
        ['key-1', 'keys.create', true],
      ] as const)
        await made.audit.record(ada.org, { ...EVENT, keyId, action, allowed })
      const all = { before: null, limit: 10, action: null, allowed: null }
      const newest = async (more = {}) => {
        const { rows: found, scannedDownTo } = await made.audit.newest(ada.org, { ...all, ...more })
        return [found.map(({ seq }) => seq), scannedDownTo]
      }
      expect(await newest()).toEqual([[4, 3, 2, 1], null])
      expect(await newest({ limit: 2 })).toEqual([[4, 3], 3])
      expect(await newest({ limit: 2, before: 3 })).toEqual([[2, 1], 1])
      expect(await newest({ before: 1 })).toEqual([[], null])
      expect(await newest({ keys: ['key-2'] })).toEqual([[3, 2], null])
      expect(await newest({ keys: [] })).toEqual([[], null])
      expect(await newest({ action: 'store_context', allowed: false })).toEqual([[3], null])
      expect((await made.audit.newest('another', all)).rows).toEqual([])
    })

    it('and lets no statement change a row, or remove a retained one', async () => {
      await made.audit.record(ada.org, EVENT)
      await made.audit.recordRepeated(ada.org, EVENT)
      const ofOrg = sql`WHERE org = ${ada.org}`
      for (const statement of [
        sql`DELETE FROM audit ${ofOrg}`,
        sql`UPDATE audit SET times = 2 ${ofOrg} AND seq = 1`,
        sql`UPDATE audit SET times = 3 ${ofOrg} AND seq = 2`,
        sql`UPDATE audit SET times = 2, detail = '{}' ${ofOrg} AND seq = 2`,
        sql`UPDATE audit SET times = 2, ids = '' ${ofOrg} AND seq = 2`,
      ])
        await expect(made.connection.batch([statement], { org: ada.org })).rejects.toThrow()
      expect(await rows()).toHaveLength(2)
    })
  })
}
