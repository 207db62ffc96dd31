import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { CheckedUpdate } from '../../src/domain/entry/update'
import { applyUpdates } from '../../src/domain/entry/update'
import type { Caller } from '../../src/domain/identity/scope'
import type { EntryStore } from '../../src/ports/entry-store'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface ChangesUnderTest {
  readonly entries: EntryStore
  readonly connection: SqlConnection
  readonly clock: TestClock
}

/** Every change of an entry is a row of `changes` with the call, its author, and the readers of the entry before and after. */
export function changesContract(name: string, make: () => ChangesUnderTest): void {
  describe(`${name} records who changed what, and who may read that`, () => {
    let made: ChangesUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal({ agent: 'ci-bot' })
    })
    const call = (changeId: string, more: Partial<Caller> = {}): Caller => ({ ...ada, changeId, ...more })
    const save = async (by: Caller, ...drafts: Partial<EntryDraft>[]) => {
      const entries = await Promise.all(drafts.map((draft) => entryOf(by, draft)))
      return (await made.entries.save(by, entries)).map(({ id }) => id)
    }
    const update = async (by: Caller, id: number, change: Omit<CheckedUpdate, 'id'>) => {
      const [entry] = await made.entries.read(by, [id])
      if (entry === undefined) throw new Error('it is not there')
      await made.entries.change(by, [await applyUpdates(by, entry, [{ id, ...change }])])
    }
    const told = async () => {
      const [rows, left] = await made.connection.batch([
        sql`SELECT * FROM changes WHERE org = ${ada.org} ORDER BY seq`,
        sql`SELECT count(*) AS n FROM write_context WHERE org = '' OR batch_output IS NOT NULL`,
      ])
      expect(Number(left?.[0]?.n)).toBe(0)
      return (rows ?? []).map((row) => ({ ...row, entry_id: Number(row.entry_id), version: Number(row.version) }))
    }

    it('naming the call, its key and its agent in every row that it makes', async () => {
      const [a, b] = await save(
        call('c1'),
        { text: 'a' },
        { text: 'b', source: 'agent', metadata: { agent_name: 'scout' } },
      )
      await update(call('c2', { keyId: 'key-2', agent: null }), a as number, { text: 'a, again' })
      await made.entries.patch(call('c3'), b as number, { plain: 1 })
      await made.entries.delete(call('c4'), { ids: [a as number, b as number] })
      // The rows of one statement come in any order.
      const rows: Record<string, unknown>[] = await told()
      const order = (row: Record<string, unknown>) => `${row.change_id} ${row.entry_id}`
      rows.sort((x, y) => order(x).localeCompare(order(y), 'en', { numeric: true }))
      expect(rows).toMatchObject([
        { change_id: 'c1', entry_id: a, action: 'store', version: 1, key_id: 'key-1', agent: 'ci-bot' },
        { change_id: 'c1', entry_id: b, action: 'store', version: 1, key_id: 'key-1', agent: 'scout' },
        { change_id: 'c2', entry_id: a, action: 'update', version: 2, key_id: 'key-2', agent: null },
        { change_id: 'c3', entry_id: b, action: 'update', version: 2, key_id: 'key-1', agent: 'ci-bot' },
        { change_id: 'c4', entry_id: a, action: 'delete', version: 3, key_id: 'key-1', agent: 'ci-bot' },
        { change_id: 'c4', entry_id: b, action: 'delete', version: 3, key_id: 'key-1', agent: 'ci-bot' },
      ])
    })

    it('naming the thread, project, kind and reader before and after', async () => {
      const [id] = await save(ada, { threadId: 't', text: 'a', metadata: { project: 'p' } })
      await update(ada, id as number, { metadata: { project: 'q', audience: 'private', report_type: 'decision' } })
      await made.entries.delete(ada, { ids: [id as number] })
      expect(await told()).toMatchObject([
        { thread_id: 't', project: 'p', kind: 'episode', reader: '', was_thread: null, was_reader: null },
        {
          ...{ thread_id: 't', project: 'q', kind: 'decision', reader: 'ada' },
          ...{ was_thread: 't', was_project: 'p', was_kind: 'episode', was_reader: '' },
        },
        {
          thread_id: 't',
          project: 'q',
          kind: 'decision',
          reader: null,
          was_thread: 't',
          was_project: 'q',
          was_reader: 'ada',
        },
      ])
    })

    it('naming no reader for what lists do not show: diaries, archived entries, expired ones', async () => {
      const soon = new Date(made.clock.ms + 1000).toISOString()
      const [page] = await save(ada, { text: 'page', metadata: { diary: true } })
      const [short] = await save(ada, { text: 'short', source: 'agent', metadata: { expires_at: soon } })
      const [other] = await save(ada, { text: 'other' })
      await made.connection.batch([sql`UPDATE entries SET archived = 1 WHERE id = ${other}`], { org: ada.org })
      await made.connection.batch([sql`UPDATE entries SET archived = 0 WHERE id = ${other}`], { org: ada.org })
      made.clock.advance(2000)
      while ((await createSqlRetention(made.connection, made.clock).expireEntries(50)) > 0);
      expect(await told()).toMatchObject([
        { entry_id: page, reader: null },
        { entry_id: short, reader: '' },
        { entry_id: other, reader: '' },
        { entry_id: other, action: 'update', version: 1, reader: null, was_reader: '' },
        { entry_id: other, action: 'update', version: 1, reader: '', was_reader: null },
        { entry_id: short, action: 'delete', reader: null, was_reader: '', key_id: null, agent: null },
      ])
      expect(
        (await told()).every(({ change_id: id }: Record<string, unknown>) => /^[0-9a-f]{32}$/.test(String(id))),
      ).toBe(true)
    })

    it('leaving nothing of a batch that was refused, neither its row nor its name', async () => {
      const [id] = await save(ada, { text: 'a' })
      const change = { id: id as number, version: 7, steps: 1, tags: ['x'] }
      await expect(made.entries.change(ada, [change])).rejects.toMatchObject({ code: 'conflict' })
      expect(await told()).toHaveLength(1)
    })
  })
}
