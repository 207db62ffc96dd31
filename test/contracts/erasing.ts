import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/stores/history/history'
import { createSqlReceipts } from '../../src/adapters/sql/stores/history/receipts'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import { NOTHING_GENERATED } from '../../src/domain/entry/entry'
import type { HistoryTerms } from '../../src/domain/history/version'
import type { Caller } from '../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../src/domain/quota'
import { Notes } from '../../src/domain/receipts/notes'
import { deleting } from '../support/deleting'
import { base64, entryOf, freshPrincipal, pngBytes } from '../support/scope'
import type { HistoryUnderTest } from './history-store'

const HOUR = 3_600_000
const OFF = { days: 0, receiptHours: 24 }
const ON = { days: 30, receiptHours: 24 }

/** Erasing deleted entries in any state, only by those who could see them (history contract §3). */
export function erasingContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} erases deleted entries`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    /** Of the same org: another owner, and a key of one project. */
    let eve: Caller
    let narrow: Caller
    let n = 0
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
      eve = { ...ada, owner: 'eve', keyId: 'key-2' }
      narrow = { ...ada, owner: 'nat', keyId: 'key-3', projects: ['p'] }
    })
    const store = (terms: HistoryTerms) =>
      createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, terms)
    const retention = (terms: HistoryTerms) => createSqlRetention(made.connection, made.clock, terms)
    const call = (caller: Caller): Caller => ({ ...caller, changeId: `call ${n++}` })

    /** An entry, and what keeps a secret of it: the receipt of a call that changed it. */
    async function secret(metadata: Record<string, string | boolean> = {}) {
      const [saved] = await store(OFF).save(call(ada), [await entryOf(ada, { metadata })])
      const id = saved?.id as number
      const receipt = { key: `k${id}`, digest: 'd', notes: new Notes() }
      receipt.notes.note('title', 'a secret')
      receipt.notes.text = 'a secret text'
      await store(OFF).patch({ ...call(ada), receipt }, id, { n: 1 })
      return id
    }
    const told = async (id: number, terms: HistoryTerms = OFF) =>
      createSqlReceipts(made.connection, made.clock, terms).find(ada, `k${id}`)
    const erase = async (caller: Caller, id: number, terms = OFF) =>
      (await deleting(store(terms)).erase(call(caller), { ids: [id] })).count
    /** Whether each of these may erase it, in turn; unerased states are still shown. */
    async function tried(id: number, callers: readonly Caller[], terms = OFF) {
      const counts: number[] = []
      for (const caller of callers) {
        counts.push(await erase(caller, id, terms))
        const { erased, text } = (await told(id, terms)) ?? {}
        expect([erased, text]).toEqual(counts.includes(1) ? [true, null] : [false, 'a secret text'])
      }
      return counts
    }
    const archive = (id: number) =>
      made.connection.batch([
        sql`DELETE FROM write_context WHERE org = ${ada.org}`,
        sql`UPDATE entries SET archived = 1 WHERE id = ${id}`,
      ])
    const soon = () => ({ expires_at: new Date(made.clock.now() + HOUR).toISOString() })

    it('of entries whose deletion kept nothing', async () => {
      const id = await secret()
      await store(OFF).delete(call(ada), { ids: [id] })
      expect(await tried(id, [{ ...freshPrincipal(), owner: 'ada' }, narrow, eve, ada])).toEqual([0, 0, 1, 0])
      expect(await told(id)).toMatchObject({ erased: true, notes: {}, output: {}, text: null, answer: null })
      const [audited] = await made.connection.batch([
        sql`SELECT action FROM audit WHERE org = ${ada.org} ORDER BY seq DESC LIMIT 1`,
      ])
      expect(audited).toEqual([{ action: 'erase' }])
    })

    it('[HISTORY-36] erases entries that were deleted while lists did not show them, for those who could read them by id', async () => {
      const archived = await secret({ project: 'p' })
      const hidden = await secret({ audience: 'private', project: 'p' })
      const page = await secret({ diary: true, agent_name: 'bot' })
      const others = await secret({ project: 'q' })
      for (const id of [archived, hidden, others]) await archive(id)
      for (const id of [archived, hidden, page, others]) await store(OFF).delete(call(ada), { ids: [id] })
      expect(await tried(archived, [narrow, eve])).toEqual([1, 0])
      expect(await tried(hidden, [narrow, eve, ada])).toEqual([0, 0, 1])
      expect(await tried(page, [narrow, eve, ada])).toEqual([0, 0, 1])
      expect(await tried(others, [narrow, eve])).toEqual([0, 1])
    })

    it('[HISTORY-33] erases vectors, and queues images for removal that neither an entry nor a retained state uses', async () => {
      const data = base64(pngBytes(crypto.randomUUID()))
      const vector = { model: 'test#2', chunk: 0, start: 0, length: 1, data: '1:AQE=' }
      const left = async () => {
        const of = (table: string, more = sql``) =>
          sql`SELECT count(*) AS n FROM ${sql.raw(table)} WHERE org = ${ada.org}${more}`
        const tables = [of('image_uses'), of('entry_vectors'), of('outbox', sql` AND topic = 'image_delete'`)]
        return (await made.connection.batch(tables)).map(([row]) => Number(row?.n))
      }
      const illustrated = async () => {
        const draft = await entryOf(ada, { images: [{ data }] })
        const whole = { ...draft, generated: { ...NOTHING_GENERATED, vectors: [vector] } }
        return (await store(ON).save(call(ada), [whole], { dedupe: false }))[0]?.id as number
      }
      const [standing, deleted] = [await illustrated(), await illustrated()]
      await store(ON).patch(call(ada), standing, { n: 1 })
      await store(ON).delete(call(ada), { ids: [deleted] })
      // Each of the two entries uses the image, and so does each of their retained states.
      expect(await left()).toEqual([3, 1, 0])
      expect(await erase(ada, standing, ON)).toBe(1)
      expect(await left()).toEqual([1, 0, 0])
      expect(await erase(ada, deleted, ON)).toBe(1)
      expect(await left()).toEqual([0, 0, 1])
    })

    it('of entries that have expired, before the schedule removes them and behind it', async () => {
      for (const terms of [OFF, ON]) {
        const [before, behind, hidden] = [await secret(soon()), await secret(soon()), await secret(soon())]
        await made.connection.batch([sql`UPDATE entries SET audience = 'private' WHERE id = ${hidden}`])
        made.clock.advance(2 * HOUR)
        expect(await tried(before, [narrow, eve, ada], terms)).toEqual([0, 1, 0])
        expect(await erase(eve, hidden, terms)).toBe(0)
        while ((await retention(terms).expireEntries(100)) > 0);
        expect(await tried(behind, [narrow, eve, ada], terms)).toEqual([0, 1, 0])
        expect(await tried(hidden, [eve, ada], terms)).toEqual([0, 1])
      }
    })

    it('[HISTORY-36] erases by the visibility of the last deletion, not by one before a restoration', async () => {
      const history = createSqlHistory(made.connection, made.analyzer, made.clock, NO_QUOTAS, ON)
      // Visible to everyone, then only to its owner, and deleted each time. The last deletion is retained or not.
      for (const terms of [ON, OFF]) {
        const id = await secret()
        await store(ON).delete(call(ada), { ids: [id] })
        const { kept } = await history.restorable(ada, { ids: [id] }, { limit: 1, maxBytes: 9999 })
        await history.restore(call(ada), kept, [null])
        await made.connection.batch([sql`UPDATE entries SET audience = 'private' WHERE id = ${id}`])
        await store(terms).delete(call(ada), { ids: [id] })
        expect(await tried(id, [eve, narrow, ada], terms)).toEqual([0, 0, 1])
      }
    })

    it('as long as a receipt may refer to it, however short the feed is retained', async () => {
      const terms = { days: 0, receiptHours: 720 }
      const id = await secret()
      await store(terms).delete(call(ada), { ids: [id] })
      // The database notes deletions by its own clock.
      await made.connection.batch([sql`UPDATE changes SET at = ${made.clock.now()}`], 'all')
      const forget = async () => {
        while ((await retention(terms).forgetChanges(made.clock.now() - 24 * HOUR, 100)) > 0);
      }
      made.clock.advance(29 * 24 * HOUR)
      await secret()
      await forget()
      expect(await tried(id, [narrow, eve], terms)).toEqual([0, 1])
      made.clock.advance(2 * 24 * HOUR)
      await forget()
      const [rows] = await made.connection.batch([sql`SELECT 1 FROM changes WHERE entry_id = ${id}`])
      expect([rows, await told(id, terms)]).toEqual([[], null])
    })

    it('[HISTORY-33] retains no answer about an entry that was erased while the call ran', async () => {
      const kept = async (mentioned: readonly number[]) => {
        const receipt = { key: `names ${n++}`, digest: 'd', notes: new Notes() }
        receipt.notes.note(
          'conflicts',
          mentioned.map((id) => ({ id, title: 'a secret' })),
        )
        receipt.notes.mentioned = mentioned
        await store(ON).save({ ...call(ada), receipt }, [await entryOf(ada, {})], { dedupe: false })
        const known = await createSqlReceipts(made.connection, made.clock, ON).find(ada, receipt.key)
        return [known?.erased, JSON.stringify(known).includes('a secret')]
      }
      // Each call has read the title before another one erased its entry.
      const [standing, deleted, gone, going] = [await secret(), await secret(), await secret(), await secret()]
      await store(ON).delete(call(ada), { ids: [deleted] })
      expect(await kept([standing, deleted])).toEqual([false, true])
      await erase(ada, gone, ON)
      expect(await kept([standing, gone])).toEqual([true, false])
      await made.connection.batch([
        sql`
          INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
          VALUES (${going}, ${ada.org}, 1, 'erases', ${ada.keyId}, NULL, ${made.clock.now()}, 0, 1)`,
      ])
      expect(await kept([going])).toEqual([true, false])
      await made.connection.batch([sql`DELETE FROM pending_deletes WHERE entry_id = ${going}`], 'all')
    })

    it('[HISTORY-36] erases archived and previously deleted entries of a thread, reports how many of each, and counts the entries that remain', async () => {
      for (const terms of [OFF, ON]) {
        const threadId = `thread ${n++}`
        const saved = async (metadata: Record<string, string | boolean> = {}, caller = ada) => {
          const draft = { ...(await entryOf(ada, { threadId, metadata })), owner: caller.owner }
          return (await store(terms).save(call(caller), [draft], { dedupe: false }))[0]?.id as number
        }
        const p = { project: 'p' }
        const [standing, archived, deleted, moved] = [await saved(p), await saved(p), await saved(p), await saved(p)]
        const [everyones, everyonesGone] = [await saved({}), await saved({})]
        const hidden = await saved({ ...p, audience: 'private' }, eve)
        const page = await saved({ ...p, diary: true, agent_name: 'bot' }, narrow)
        const pageGone = await saved({ ...p, diary: true, agent_name: 'bot' }, narrow)
        await archive(archived)
        for (const id of [deleted, everyonesGone]) await store(terms).delete(call(ada), { ids: [id] })
        await store(terms).delete(call(narrow), { ids: [pageGone] })
        await archive(moved)
        await made.connection.batch([
          sql`UPDATE entries SET thread_id = 'elsewhere' WHERE id = ${moved}`,
          sql`UPDATE entries SET archived = 0 WHERE id = ${moved}`,
        ])
        await store(terms).delete(call(ada), { ids: [moved] })
        // A call has deleted one by name and died.
        const [unfinished] = [await saved(p)]
        await made.connection.batch([
          sql`
            INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
            VALUES (${unfinished}, ${ada.org}, 1, ${`died ${threadId}`}, ${ada.keyId}, NULL, ${made.clock.now()}, ${terms.days > 0 ? 1 : 0}, 0)`,
        ])
        // Without history a deleted page looks like one that others could not see.
        const pages = terms.days > 0 ? 0 : 1
        const selection = { threadIds: [threadId] }
        expect(await deleting(store(terms)).look(narrow, selection, true)).toMatchObject({ count: 3 + pages })
        expect(await deleting(store(terms)).erase(call(narrow), selection)).toEqual({
          ...{ count: 4 + pages, archived: 1, before: 2 + pages, left: 2 },
        })
        expect(await deleting(store(terms)).erase(call(narrow), selection)).toEqual({
          count: 0,
          archived: 0,
          before: 0,
          left: 2,
        })
        const [rows] = await made.connection.batch([
          sql`SELECT id FROM entries WHERE thread_id = ${threadId} ORDER BY id`,
        ])
        expect(rows?.map(({ id }) => Number(id))).toEqual([everyones, hidden, page])
        for (const id of [standing, archived, deleted]) expect(await erase(ada, id, terms)).toBe(0)
        expect(await deleting(store(terms)).erase(call(ada), selection)).toEqual({
          count: 2,
          archived: 0,
          before: 1,
          left: 0,
        })
        expect(await erase(ada, moved, terms)).toBe(1)
        expect(await erase(narrow, pageGone, terms)).toBe(1 - pages)
      }
    })

    it('[HISTORY-36] erases entries that a call deleted before it died during removal', async () => {
      const id = await secret()
      for (const terms of [OFF, ON]) {
        const own = terms === ON ? await secret() : id
        // A call has deleted it by name and died.
        await made.connection.batch([
          sql`
            INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
            VALUES (${own}, ${ada.org}, 1, ${`died ${own}`}, ${ada.keyId}, NULL, ${made.clock.now()}, ${terms.days > 0 ? 1 : 0}, 0)`,
        ])
        expect(await tried(own, [{ ...narrow, projects: ['p'] }, eve], terms)).toEqual([0, 1])
        const [rows] = await made.connection.batch([
          sql`SELECT 1 FROM pending_deletes WHERE org = ${ada.org} UNION ALL SELECT 1 FROM entry_versions WHERE org = ${ada.org}
            UNION ALL SELECT 1 FROM entries WHERE id = ${own}`,
        ])
        expect(rows).toEqual([])
      }
    })
  })
}
