import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Row } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/stores/history/history'
import { createSqlReceipts } from '../../src/adapters/sql/stores/history/receipts'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import { createUnfinishedDeletes } from '../../src/adapters/sql/tables/changes/pending-deletion'
import type { Entry } from '../../src/domain/entry/entry'
import type { JsonObject } from '../../src/domain/entry/metadata'
import { applyUpdates } from '../../src/domain/entry/update'
import type { Caller } from '../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../src/domain/quota'
import type { Restoration } from '../../src/ports/history'
import { executeOnce } from '../../src/tools/idempotency'
import { filled } from '../support/entry-columns'
import { keyedCall } from '../support/keyed'
import { entryOf, freshPrincipal } from '../support/scope'
import type { HistoryUnderTest } from './history-store'

const HOUR = 3_600_000
const terms = { days: 30, receiptHours: 24 }

/** Columns of an entry that no retained state has: those derived from other columns or metadata, and those that reads change. */
const NOT_KEPT =
  'access_count accessed_at addresses_agent approved_by approved_version captured created_second listed pinned weight'.split(
    ' ',
  )

/** Columns of a retained state only, and columns that PostgreSQL derives from the metadata. */
const NOT_COMPARED = ['id', 'metadata_json']

/** Names of columns in which a row of an entry differs from another, or from a retained state. */
const differing = (one: Row, other: Row): string[] =>
  Object.keys(one)
    .filter((name) => !NOT_COMPARED.includes(name) && one[name] !== other[name])
    .toSorted()

/** Data that is restored with an entry, data that is never retained, and the expiry of retained data (history contract §2, §3). */
export function restoringContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} restores`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    let n = 0
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const store = () => createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, terms)
    const history = () => createSqlHistory(made.connection, made.analyzer, made.clock, NO_QUOTAS, terms)
    const call = (): Caller => ({ ...ada, changeId: `call ${n++}` })
    const rows = async (query: SQL) => (await made.connection.batch([query]))[0] ?? []
    const save = async (metadata: JsonObject = {}) => {
      const [saved] = await store().save(call(), [await entryOf(ada, { metadata })], { dedupe: false })
      return saved?.id as number
    }
    const naming = (...ids: readonly number[]): JsonObject => ({ depends_on: [...ids] })
    /** As their readers see them, with both ends. */
    const links = async () =>
      (
        await rows(sql`
          SELECT l.from_id, l.relation, l.to_id, l.origin
          FROM links l JOIN entries f ON f.id = l.from_id JOIN entries t ON t.id = l.to_id WHERE l.org = ${ada.org}`)
      )
        .map(({ from_id, relation, to_id, origin }) => `${from_id} ${relation} ${to_id} ${origin}`)
        .toSorted()
    const change = async (id: number, metadataPatch: JsonObject) => {
      const [entry] = await store().read(ada, [id])
      const caller = call()
      await store().change(caller, [await applyUpdates(caller, entry as Entry, [{ id, metadataPatch }])])
    }
    const restore = async (what: Restoration) => {
      const { kept } = await history().restorable(ada, what, { limit: 9, maxBytes: 99_999 })
      return history().restore(
        call(),
        kept,
        kept.map(() => null),
      )
    }

    it('[HISTORY-24] restores links to entries that still exist, by any author', async () => {
      const [base, gone, target] = [await save(), await save(), await save()]
      const middle = await save({ references: { context_ids: [base, gone] } })
      const above = await save({ depends_on: [middle] })
      // Links that others made, to what stays and to what goes.
      for (const to of [target, gone])
        await made.connection.batch([
          sql`INSERT INTO links (org, from_id, relation, to_id, origin) VALUES (${ada.org}, ${middle}, 'supports', ${to}, 'remember')`,
        ])
      const all = await links()
      expect(all).toHaveLength(5)
      const stays = all.filter((link) => !link.includes(` ${gone} `))
      await store().delete(call(), { ids: [middle] })
      expect(await links()).toEqual([])
      await store().delete(call(), { ids: [gone] })
      await restore({ ids: [middle] })
      expect(await links()).toEqual(stays)
      await restore({ ids: [gone] })
      expect(await links()).toEqual(all)
      // Entries that are deleted and restored together keep the links between them.
      const undone = call()
      await store().delete(undone, { ids: [above, middle, base] })
      expect(await links()).toEqual([])
      await restore({ changeId: undone.changeId })
      expect(await links()).toEqual(all)
    })

    it('retains every column of an entry with its versions, and restores each', async () => {
      const id = await save({ title: 'a title', domain: 'a domain', confidence: 0.5, status: 'doing' })
      const one = async (query: SQL) => (await rows(query))[0] ?? {}
      const standing = () => one(sql`SELECT * FROM entries WHERE id = ${id}`)
      const kept = (version: number) =>
        one(sql`SELECT * FROM entry_versions WHERE entry_id = ${id} AND version = ${version}`)
      await rows(sql`UPDATE entries SET ${sql.raw(filled(await standing()))} WHERE id = ${id}`)
      const first = await standing()
      await change(id, { n: 1 })
      // The text is stored with the next version, which has the same.
      expect(differing(first, await kept(1))).toEqual([...NOT_KEPT, 'text'].toSorted())
      const second = await standing()
      await store().delete(call(), { ids: [id] })
      expect(differing(second, await kept(2))).toEqual(NOT_KEPT)
      await restore({ ids: [id] })
      // An approval holds for one version, and a text that addresses an agent is recognized again.
      const anew = ['addresses_agent', 'approved_by', 'approved_version']
      expect(differing(second, await standing())).toEqual(['accessed_at', ...anew, 'restored', 'version'])
    })

    it('restores an entry as archived if it was archived when deleted, and as listed over an existing one', async () => {
      const [named, undone, listed] = [await save({ n: 1 }), await save(), await save()]
      for (const id of [named, undone]) await rows(sql`UPDATE entries SET archived = 1 WHERE id = ${id}`)
      const states = async () => {
        const found = await rows(sql`SELECT id, archived FROM entries WHERE org = ${ada.org} ORDER BY id`)
        return found.map(({ id, archived }) => [id, archived])
      }
      const before = await states()
      await store().delete(call(), { ids: [named] })
      const both = call()
      await store().delete(both, { ids: [undone, listed] })
      expect(await states()).toEqual([])
      await restore({ ids: [named] })
      await restore({ changeId: both.changeId })
      expect(await states()).toEqual(before)
      expect((await store().read(ada, [named]))[0]).toMatchObject({ archived: true, version: 3 })
      await restore({ ids: [named], version: 1 })
      expect(await states()).toEqual(before.map(([id, archived]) => [id, id === named ? 0 : archived]))
    })

    it('restores links to a deleted entry as far as others still name it', async () => {
      const target = await save()
      const [unnamed, named, reverted] = [
        await save(naming(target)),
        await save(naming(target)),
        await save(naming(target)),
      ]
      const other = await save()
      const [unsaid] = await rows(sql`SELECT count(*) AS n FROM links WHERE org = ${ada.org}`)
      await store().delete(call(), { ids: [target] })
      expect(await links()).toEqual([])
      // However many name it, the delete touches none of them.
      expect(await rows(sql`SELECT count(*) AS n FROM links WHERE org = ${ada.org}`)).toEqual([unsaid])
      await change(unnamed, { depends_on: [other] })
      await change(named, { depends_on: [target, other], n: 1 })
      await change(reverted, { depends_on: null })
      await restore({ ids: [reverted], version: 1 })
      // Deleted entries cannot be linked again.
      const late = await save(naming(target))
      await store().delete(call(), { ids: [late] })
      await restore({ ids: [late] })
      await restore({ ids: [target] })
      const to = (from: number, id: number) => `${from} depends_on ${id} metadata`
      expect(await links()).toEqual(
        [to(unnamed, other), to(named, target), to(named, other), to(reverted, target)].toSorted(),
      )
      await change(named, { depends_on: [] })
      expect(await links()).toEqual([to(unnamed, other), to(reverted, target)].toSorted())
    })

    it('keeps the link of a repeated message to a deleted entry', async () => {
      const target = await save()
      const turn = () => entryOf(ada, { threadId: 'turns', text: 'a turn', metadata: naming(target) })
      const say = async () => (await store().save(call(), [await turn()], { dedupe: true }))[0]?.id as number
      const id = await say()
      await store().delete(call(), { ids: [target] })
      expect(await say()).toBe(id)
      await restore({ ids: [target] })
      expect(await links()).toEqual([`${id} depends_on ${target} metadata`])
    })

    it('restores nothing over an entry that the caller may no longer change', async () => {
      const bob = { ...ada, owner: 'bob' }
      const read = async (id: number, version: number) => {
        const what = { ids: [id], version }
        return (await history().restorable(bob, what, { limit: 9, maxBytes: 99_999 })).kept
      }
      const [hidden, leaving] = [await save(), await save()]
      for (const id of [hidden, leaving]) await change(id, { n: 1 })
      const states = [...(await read(hidden, 1)), ...(await read(leaving, 1))]
      expect(states.map(({ id }) => id)).toEqual([hidden, leaving])
      await rows(sql`UPDATE entries SET audience = 'private' WHERE id = ${hidden}`)
      await rows(sql`
        INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
        VALUES (${leaving}, ${ada.org}, 1, 'another', ${ada.keyId}, NULL, ${made.clock.now()}, 1, 0)`)
      for (const state of states)
        await expect(history().restore({ ...call(), owner: 'bob' }, [state], [null])).rejects.toMatchObject({
          code: 'conflict',
        })
      expect(await read(hidden, 1)).toEqual([])
    })

    it('answers about entries being deleted in parts as it will when that is done', async () => {
      const window = { limit: 9, offset: 0 }
      const id = await save()
      await change(id, { n: 1 })
      const stood = made.clock.now()
      made.clock.advance(HOUR)
      const remover = call()
      const told = async () => [
        await history().versions(ada, id, window),
        (await history().asOf(ada, [id], stood, 9_999)).entries.map(({ version }) => version),
        (await history().asOf(ada, [id], made.clock.now(), 9_999)).entries,
        (await history().state(ada, id, 2))?.version,
      ]
      await rows(sql`
        INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
        VALUES (${id}, ${ada.org}, 1, ${remover.changeId}, ${ada.keyId}, NULL, ${made.clock.now()}, 1, 0)`)
      const during = await told()
      await createUnfinishedDeletes(made.connection).finish(ada.org, remover.changeId)
      expect(during).toEqual(await told())
      expect(during).toMatchObject([{ currentVersion: 3, deleted: true }, [2], [], 2])
    })

    it('returns no history of an expired memory', async () => {
      const window = { limit: 9, offset: 0 }
      const id = await save()
      await change(id, { expires_at: new Date(made.clock.now() + HOUR).toISOString() })
      const told = async () => [
        (await history().versions(ada, id, window))?.total ?? null,
        (await history().state(ada, id, 1))?.version ?? null,
        (await history().texts(ada, id, [1, 2], 9_999)).size,
      ]
      expect(await told()).toEqual([2, 1, 2])
      made.clock.advance(HOUR)
      expect(await told()).toEqual([null, null, 0])
      // The schedule removes the row and keeps its last state.
      await createSqlRetention(made.connection, made.clock, terms).expireEntries(10)
      expect(await told()).toEqual([null, null, 0])
      expect(
        (await history().restorable(ada, { ids: [id], version: 1 }, { limit: 9, maxBytes: 9_999 })).kept,
      ).toMatchObject([{ id, expiresAt: made.clock.now() }])
    })

    it('returns nothing that has expired since as of an instant, like history', async () => {
      const soon = () => ({ expires_at: new Date(made.clock.now() + HOUR).toISOString() })
      const [stands, changed, deleted] = [await save(soon()), await save({ n: 1 }), await save(soon())]
      made.clock.advance(1)
      await change(changed, soon())
      made.clock.advance(1)
      const all = [stands, changed, deleted]
      const at = made.clock.now()
      const then = async (instant: number) =>
        (await history().asOf(ada, all, instant, 99_999)).entries.map(({ id, version }) => [id, version])
      expect(await then(at)).toEqual([
        [stands, 1],
        [changed, 2],
        [deleted, 1],
      ])
      made.clock.advance(1)
      await store().delete(call(), { ids: [deleted] })
      expect(await then(at)).toHaveLength(3)
      made.clock.advance(HOUR)
      expect([await then(at), await then(at - 2), await then(made.clock.now() + HOUR)]).toEqual([[], [], []])
      for (const id of all) expect(await history().versions(ada, id, { limit: 9, offset: 0 })).toBeNull()
    })

    it('removes links to entries that cannot be restored, a bounded part at a time', async () => {
      const none = { days: 0, receiptHours: 24 }
      const storeOf = (how: typeof terms) =>
        createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, how)
      const raw = async () => Number((await rows(sql`SELECT count(*) AS n FROM links WHERE org = ${ada.org}`))[0]?.n)
      const [unkept, purged, erased, stays] = [await save(), await save(), await save(), await save()]
      for (let i = 0; i < 3; i++) await save(naming(unkept, purged, erased, stays))
      const { forgetDanglingLinks, forgetVersions } = createSqlRetention(made.connection, made.clock, terms)
      const forget = async () => {
        const parts: number[] = []
        do parts.push(await forgetDanglingLinks(2))
        while (parts.at(-1) !== 0)
        return parts
      }
      await storeOf(none).delete(call(), { ids: [unkept] })
      await store().delete(call(), { ids: [purged, stays] })
      expect([await links(), await raw()]).toEqual([expect.objectContaining({ length: 3 }), 12])
      // Three links and the note of the entry.
      expect(await forget()).toEqual([2, 2, 0])
      expect(await raw()).toBe(9)
      // More than one transaction removes.
      const ids = JSON.stringify(Array.from({ length: 2_500 }, (_, i) => 10_000_000 + i))
      await made.connection.batch([
        sql`INSERT INTO links (org, from_id, relation, to_id, origin)
          SELECT ${ada.org}, value, 'references', ${erased}, 'remember'
          FROM ${made.connection.dialect.jsonNumbers(sql`${ids}`)} AS ids`,
      ])
      await store().erase(call(), { ids: [erased] })
      expect(await raw()).toBe(6)
      expect((await forget()).at(-1)).toBe(0)
      await restore({ ids: [stays] })
      expect(await links()).toHaveLength(3)
      made.clock.advance(31 * 24 * HOUR)
      while ((await forgetVersions(50)) > 0);
      expect(await forget()).toEqual([2, 2, 0])
      expect([await links(), await raw()]).toEqual([expect.objectContaining({ length: 3 }), 3])
      // Deleted entries with links to it are erased as well.
      await store().delete(call(), { ids: [stays] })
      expect([await links(), await raw()]).toEqual([[], 3])
      await store().erase(call(), { ids: [stays] })
      expect(await raw()).toBe(0)
    })

    it('removes no link to an existing entry, whatever was recorded', async () => {
      const target = await save()
      await save(naming(target))
      await made.connection.batch([sql`INSERT INTO dangling_links (entry_id, org) VALUES (${target}, ${ada.org})`])
      const { forgetDanglingLinks } = createSqlRetention(made.connection, made.clock, terms)
      while ((await forgetDanglingLinks(2)) > 0);
      expect(await links()).toHaveLength(1)
    })

    it('[HISTORY-15] retains no state for bookkeeping of reads, summaries and vectors', async () => {
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

    it('[HISTORY-7] replays under a key for its hours to the millisecond, then executes the call again, with or without the schedule', async () => {
      const id = await save()
      const services = { receipts: createSqlReceipts(made.connection, made.clock, terms) }
      const patch = async (findsReceiptFirst: boolean) => {
        const { replayed } = await executeOnce(
          { ...{ principal: call(), services }, key: 'k', args: {}, findsReceiptFirst },
          keyedCall(
            async (caller) => ({ version: (await store().patch(caller, id, { n: made.clock.now() }))?.version }),
            () => ({}),
          ),
        )
        return replayed
      }
      const told: boolean[] = []
      for (const findsReceiptFirst of [true, false]) {
        told.push(await patch(findsReceiptFirst))
        made.clock.advance(24 * HOUR - 1)
        told.push(await patch(findsReceiptFirst))
        made.clock.advance(1)
      }
      // Although no schedule has come in between.
      expect(told).toEqual([false, true, false, true])
      expect((await store().read(ada, [id]))[0]?.version).toBe(3)
    })

    it('[HISTORY-18] does not reveal a deleted entry after the retention time', async () => {
      const id = await save()
      await store().delete(call(), { ids: [id] })
      const window = { limit: 9, offset: 0 }
      expect((await history().versions(ada, id, window))?.total).toBe(2)
      made.clock.advance(31 * 24 * HOUR)
      const { forgetVersions } = createSqlRetention(made.connection, made.clock, terms)
      while ((await forgetVersions(50)) > 0);
      const nothing = [await history().versions(ada, id, window), await history().state(ada, id, 1)]
      const { kept, existing: standing } = await history().restorable(ada, { ids: [id] }, { limit: 9, maxBytes: 9999 })
      expect([...nothing, kept, standing]).toEqual([null, null, [], new Map()])
    })
  })
}
