import { expect, it } from 'vitest'
import { MOST_DELETED } from '../../src/domain/identity/audit'
import { Notes } from '../../src/domain/receipts/receipt'
import { deleteAll, eraseAll } from '../../src/tools/threads/deletion'

it('says how many entries are left when one call takes no more', async () => {
  const notes = new Notes()
  notes.keep()
  const context = (count: number) =>
    ({
      services: {
        entries: {
          delete: async () => count,
          erase: async () => ({ count, archived: 0, before: 0, left: 0 }),
          wouldDelete: async () => ({ count: 7, ids: [] }),
        },
        now: () => 0,
      },
      principal: { changeId: 'c', receipt: { key: 'k', digest: 'd', notes } },
      config: { history: { days: 0, receiptHours: 1 } },
    }) as never
  expect(await deleteAll(context(2), {})).toEqual({
    ...{ success: true, deleted_count: 2, message: 'Successfully deleted 2 context entries', change_id: 'c' },
  })
  notes.keep()
  for (const [removeAll, verb] of [[deleteAll, 'deleted'] as const, [eraseAll, 'erased'] as const])
    expect(await removeAll(context(MOST_DELETED), {})).toMatchObject({
      ...{ deleted_count: MOST_DELETED, remaining: 7 },
      message: `Successfully ${verb} 10000 context entries; 7 are left for the same call under another idempotency_key`,
    })
  // It was counted behind the write, so that the receipt does not have it yet.
  expect(notes.isWhole).toBe(false)
})
