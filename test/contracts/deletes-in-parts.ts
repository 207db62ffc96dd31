import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import type { DeleteSelection } from '../../src/domain/entry/selection'
import { createPace } from '../../src/domain/pace'
import { NO_QUOTAS } from '../../src/domain/quota'
import { deleting } from '../support/deleting'
import { entryOf, freshPrincipal } from '../support/scope'
import type { HistoryUnderTest } from './history-store'

const terms = { days: 30, receiptHours: 24 }

/**
 * A connection on which a part is of so many entries, where a database chooses in parts; there others do something behind the first part,
 * elsewhere before anything.
 */
export async function disturbed(connection: SqlConnection, part: number, others: () => Promise<unknown>) {
  const { dialect } = connection
  const cost = { parts: 0 }
  const inParts = dialect.walked !== null
  let isToCome = inParts
  if (!inParts) await others()
  const walking: SqlConnection = {
    dialect: { ...dialect, walked: inParts ? part : null },
    batch: connection.batch,
    read: async (statements) => {
      cost.parts++
      const rows = await connection.read(statements)
      if (isToCome) {
        isToCome = false
        await others()
      }
      return rows
    },
  }
  return { cost, inParts, walking }
}

/** What a delete on D1 chooses in parts where one statement would hold everybody up (platform contract §6). */
export function deletesInPartsCases(make: () => HistoryUnderTest): void {
  it('are chosen in parts on a database that serves nobody meanwhile, and looked at again by the write', async () => {
    const { connection, analyzer, clock } = make()
    const ada = freshPrincipal()
    const by = (through: SqlConnection) =>
      createSqlEntryStore(
        through,
        analyzer,
        clock,
        new Set(),
        createPace(async () => {}),
        NO_QUOTAS,
        terms,
      )
    const plain = by(connection)
    const drafts = Array.from({ length: 70 }, (_, i) => ({
      text: `entry ${i}`,
      threadId: i === 1 ? 'few' : i % 2 === 0 ? 'even' : 'odd',
      source: i % 2 === 0 ? ('user' as const) : ('agent' as const),
    }))
    const stored = await plain.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
    const ids = stored.map(({ id }) => id)
    const even = ids.filter((_, i) => i % 2 === 0)
    const left = async () => {
      const [rows] = await connection.batch([sql`SELECT id FROM entries WHERE org = ${ada.org} ORDER BY id`])
      return (rows ?? []).map(({ id }) => Number(id))
    }

    // One is deleted by another behind the first part, one is archived and one is stored.
    let late: number[] = []
    const { cost, inParts, walking } = await disturbed(connection, 20, async () => {
      await plain.delete({ ...ada, changeId: 'another' }, { ids: even.slice(0, 1) })
      await connection.batch([sql`UPDATE entries SET archived = 1 WHERE id = ${even[1]}`], { org: ada.org })
      late = (await plain.save(ada, [await entryOf(ada, { threadId: 'odd', source: 'agent' })])).map(({ id }) => id)
    })
    const deletes = deleting(by(walking))
    const told = async (call: Promise<{ readonly count: number }>) => {
      cost.parts = 0
      return [(await call).count, inParts ? cost.parts : null]
    }
    const parts = (n: number) => (inParts ? n : null)

    // A thread of one part is chosen at once, however large the store.
    expect(await told(deletes.delete({ ...ada, changeId: 'few' }, { threadIds: ['few'] }))).toEqual([1, parts(0)])
    expect(await told(deletes.delete({ ...ada, changeId: 'even' }, { threadIds: ['even', 'nowhere'] }))).toEqual([
      even.length - 2,
      parts(4),
    ])
    const odd = ids.filter((id, i) => i > 1 && !even.includes(id))
    expect(await left()).toEqual([...odd, ...late, even[1] as number].sort((a, b) => a - b))
    const [gone] = await connection.batch([
      sql`SELECT entry_id FROM entry_versions WHERE org = ${ada.org} AND change_id = 'even' AND deleted = 1 ORDER BY entry_id`,
    ])
    expect(gone?.map(({ entry_id: id }) => Number(id))).toEqual(even.slice(2))

    // What would be deleted is counted in parts too, and nothing is.
    const would = async (selection: DeleteSelection) => {
      cost.parts = 0
      const told = await deletes.look(ada, selection)
      expect(told).toEqual(await plain.wouldDelete(ada, selection))
      return [told.count, told.ids, inParts ? cost.parts : null]
    }
    expect(await would({ threadIds: ['odd'] })).toEqual([odd.length + late.length, [...odd, ...late], parts(2)])
    expect(await would({ source: 'user' })).toEqual([0, [], parts(2)])
    expect(await would({ threadIds: ['few'] })).toEqual([0, [], parts(0)])
    expect(await left()).toHaveLength(odd.length + late.length + 1)

    // By other criteria, and for good.
    expect(await told(deletes.delete({ ...ada, changeId: 'users' }, { source: 'user' }))).toEqual([0, parts(2)])
    expect(await told(deletes.erase({ ...ada, changeId: 'erased' }, { threadIds: ['odd'] }))).toEqual([
      odd.length + late.length,
      parts(3),
    ])
    expect(await left()).toEqual([even[1]])
  })
}
