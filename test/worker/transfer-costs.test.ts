import { beforeAll, expect, it } from 'vitest'
import { composeServices } from '../../src/composition/worker'
import { KnownIds } from '../../src/domain/transfer/content-checksum'
import type { EntryRecord } from '../../src/domain/transfer/records'
import { writeVolumes } from '../../src/domain/transfer/volume-writer'
import { createLog } from '../../src/http/log'
import { bindings, config, migrate } from '../support/bindings'
import { countingRows } from '../support/isolation'
import { freshPrincipal, TestClock } from '../support/scope'

const AT = '2026-11-01T00:00:00.000Z'

/** Entries, the last 20 of the project `late`. */
async function volumeOf(count: number): Promise<Uint8Array[]> {
  const records = Array.from(
    { length: count },
    (_, i): EntryRecord => ({
      ...{ record: 'entry', id: `e${i}`, thread_id: 't', source: 'user', text: `entry number ${i}`, version: 1 },
      ...{ created_at: AT, updated_at: AT, ...(i < count - 20 ? {} : { project: 'late' }) },
    }),
  )
  const known = new KnownIds()
  for (const record of records) known.note(record)
  const volumes: Uint8Array[] = []
  for await (const { bytes } of writeVolumes({ store: 'test:costs', at: AT }, records, known)) volumes.push(bytes)
  return volumes
}

beforeAll(migrate)

it('reads as many rows to import entries whose vectors are there, however many vectors the org has', async () => {
  const { database, rowsOf } = countingRows(bindings.DB)
  const background: Promise<unknown>[] = []
  const { transfer } = composeServices({ ...bindings, DB: database }, config, {
    log: createLog('CRITICAL'),
    waitUntil: (work) => background.push(work),
    clock: new TestClock(),
  })
  const options = { onConflict: 'skip', dryRun: false, keepsIds: false } as const
  async function* streamed(...parts: readonly Uint8Array[]) {
    yield* parts
  }
  /** Rows read to import the last 20 of a number of entries again, with their vectors. */
  async function rowsAmong(count: number): Promise<number> {
    const ada = freshPrincipal()
    const caller = { ...ada, changeId: crypto.randomUUID() }
    const first = await transfer.imports(caller, streamed(...(await volumeOf(count))), options)
    expect(first.entries.stored).toBe(count)
    await Promise.all(background)
    const request = { project: 'late', after: null, history: false, vectors: true, images: false }
    const going = await transfer.exports.begin(ada, ada.keyId, request)
    const parts: Uint8Array[] = []
    for await (const part of transfer.exports.parts(ada, going, { limit: 20 }))
      if ('bytes' in part) parts.push(part.bytes)

    return rowsOf(async () => {
      const again = await transfer.imports(caller, streamed(...parts), options)
      expect(again.entries).toMatchObject({ stored: 0, unchanged: 20 })
    })
  }
  const few = await rowsAmong(20)
  expect(await rowsAmong(620)).toBeLessThan(few + 200)
})
