import { expect, it } from 'vitest'
import { MOST_DELETED } from '../../src/domain/identity/audit'
import { Notes } from '../../src/domain/receipts/notes'
import { deletionAnswer, executeDeletion } from '../../src/tools/threads/deletion'

it('reports how many entries are left after the limit of one call', async () => {
  const notes = new Notes()
  notes.keep()
  const context = (count: number) =>
    ({
      services: {
        deleteEntries: {
          unknownThreads: async () => [],
          delete: async () => ({ count, until: null }),
          erase: async () => ({ count, archived: 0, before: 0, left: 0 }),
          remaining: async () => (count < MOST_DELETED ? 0 : 7),
        },
      },
      principal: { changeId: 'c', receipt: { key: 'k', digest: 'd', notes } },
    }) as never
  const removed = async (count: number, erase: boolean) =>
    deletionAnswer(await executeDeletion(context(count), {}, { dry_run: false, erase }))
  expect(await removed(2, false)).toEqual({
    ...{ success: true, deleted_count: 2, message: 'Successfully deleted 2 context entries', change_id: 'c' },
  })
  expect(notes.isWhole).toBe(true)
  for (const [erases, verb] of [[false, 'deleted'] as const, [true, 'erased'] as const])
    expect(await removed(MOST_DELETED, erases)).toMatchObject({
      ...{ deleted_count: MOST_DELETED, remaining: 7 },
      message: `Successfully ${verb} 10000 context entries; 7 are left for the same call under another idempotency_key`,
    })
  // It was counted after the write, so the receipt does not contain it yet.
  expect(notes.isWhole).toBe(false)
})
