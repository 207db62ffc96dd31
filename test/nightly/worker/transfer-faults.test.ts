import { beforeAll, describe, expect, it } from 'vitest'
import type { Bindings } from '../../../src/composition/isolate'
import { composeServices } from '../../../src/composition/worker'
import { Problem } from '../../../src/domain/errors'
import { sha256Hex } from '../../../src/domain/text'
import { KnownIds } from '../../../src/domain/transfer/content-checksum'
import type { CarriedRecord, EntryRecord, TransferRecord } from '../../../src/domain/transfer/records'
import { completeVolumes, readVolumes } from '../../../src/domain/transfer/volume-reader'
import { type Volume, writeVolumes } from '../../../src/domain/transfer/volume-writer'
import { createLog } from '../../../src/http/log'
import { bindings, config, migrate } from '../../support/bindings'
import { Faults, faulty } from '../../support/faults'
import { base64, freshPrincipal, pngBytes, TestClock } from '../../support/scope'

/** Every call to D1 and R2 of an import and of an export made to fail in turn, before it was done and behind it; then it is made again. */
const d1 = new Faults()
const r2 = new Faults()
const world: Bindings = {
  VECTORS: bindings.VECTORS,
  GATES: bindings.GATES,
  DB: faulty(bindings.DB, ['batch'], d1),
  IMAGES: faulty(bindings.IMAGES, ['put', 'get', 'delete', 'list', 'head'], r2),
}
let background: Promise<unknown>[] = []
const services = composeServices(world, config, {
  log: createLog('CRITICAL'),
  waitUntil: (work) => background.push(work),
  clock: new TestClock(),
})
const { exports, imports } = services.transfer

async function settle(): Promise<void> {
  d1.clear()
  r2.clear()
  await Promise.allSettled(background)
  background = []
}

const AT = '2026-11-01T00:00:00.000Z'
const ALL = { project: null, after: null, history: true, vectors: false, images: true }
const SKIP = { onConflict: 'skip', dryRun: false, keepsIds: false } as const

const told = (id: string, more: Partial<EntryRecord> = {}): EntryRecord => ({
  ...{ record: 'entry', id, thread_id: 't', source: 'user', text: `told ${id}`, version: 1 },
  ...{ created_at: AT, updated_at: AT },
  ...more,
})

/** Two volumes: 104 entries in two batches, with images, a kept state, and links into the second volume. */
async function volumes(): Promise<Volume[]> {
  const png = pngBytes('fault')
  const image = { sha256: await sha256Hex(png), mime_type: 'image/png', size: png.length }
  const some = Array.from({ length: 104 }, (_, i) => {
    const to = `e${(i + 3) % 107}`
    const link = { relation: 'supersedes', to, origin: 'metadata' as const }
    return told(`e${i}`, {
      metadata: { supersedes: to },
      links: [link],
      ...(i === 0 ? { images: [image], version: 2 } : {}),
    })
  })
  const first: CarriedRecord[] = [
    { record: 'project', id: 'apollo', name: 'Apollo' },
    { record: 'image', ...image, data: base64(png) },
    ...some,
    { ...told('e0', { text: 'before' }), record: 'version', ended: { at: '2026-11-19T08:00:00.000Z', version: 2 } },
  ]
  const made: Volume[] = []
  for (const records of [first, [104, 105, 106].map((i) => told(`e${i}`))]) {
    const known = new KnownIds()
    for (const record of records) if (record.record === 'entry') known.note(record)
    for await (const volume of writeVolumes({ store: 'test:faults', at: AT }, records, known)) made.push(volume)
  }
  return made
}

async function* streamed(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

type Ada = ReturnType<typeof freshPrincipal>
const send = (ada: Ada, { bytes }: Volume) => imports({ ...ada, changeId: crypto.randomUUID() }, streamed(bytes), SKIP)

/** Content of an organization, without its own ids. */
async function held(ada: Ada): Promise<string[]> {
  const lines: string[] = []
  const going = await exports.begin(ada, ada.keyId, ALL)
  async function* bytes() {
    for await (const part of exports.parts(ada, going, { limit: 1000 })) if ('bytes' in part) yield part.bytes
  }
  for await (const { record, bytes: line } of readVolumes(bytes()))
    if (record.record !== 'manifest' && record.record !== 'end') lines.push(new TextDecoder().decode(line))
    else if (record.record === 'end') lines.push(record.content)
  return lines.map((line) => line.replaceAll(/"(id|to|supersedes)":"?\d+"?/g, '"$1"')).sort()
}

beforeAll(migrate)

describe('an import that breaks off', () => {
  for (const [dependency, faults] of [
    ['D1', d1],
    ['R2', r2],
  ] as const)
    for (const fault of ['before', 'after'] as const)
      it(`is the same when it is sent again, whichever call to ${dependency} failed ${fault} it was done`, async () => {
        const all = await volumes()
        const whole = freshPrincipal()
        for (const volume of all)
          expect(await send(whole, volume)).toMatchObject({ problems: [], content: volume.content })
        await settle()
        const expected = await held(whole)
        for (const [i, volume] of all.entries())
          for (let skip = 0, reached = true; reached; skip++) {
            const ada = freshPrincipal()
            for (const before of all.slice(0, i)) await send(ada, before)
            await settle()
            faults.failAfter(skip, fault)
            const failed = await send(ada, volume).then(
              () => null,
              (error: unknown) => error,
            )
            reached = faults.calls > skip
            await settle()
            if (failed !== null) expect(failed).toBeInstanceOf(Problem)
            for (const again of all.slice(i)) {
              const report = await send(ada, again)
              expect([skip, report]).toMatchObject([skip, { problems: [], content: again.content }])
            }
            await settle()
            expect([skip, await held(ada)]).toEqual([skip, expected])
          }
      })
})

describe('an export that breaks off', () => {
  it('continues after the last complete volume, whichever call failed', async () => {
    const ada = freshPrincipal()
    for (const volume of await volumes()) await send(ada, volume)
    await settle()
    const records = async (limit: number, broken: (() => void) | null) => {
      const lines: string[] = []
      const take = ({ record }: { record: TransferRecord }) => {
        if (record.record !== 'manifest' && record.record !== 'end') lines.push(JSON.stringify(record))
        return record.record === 'end' ? record.next : undefined
      }
      broken?.()
      for (let from: string | undefined; ; ) {
        let next: string | undefined
        try {
          const going = await (from === undefined
            ? exports.begin(ada, ada.keyId, ALL)
            : exports.resume(ada, ada.keyId, from))
          async function* bytes() {
            for await (const part of exports.parts(ada, going, { limit })) if ('bytes' in part) yield part.bytes
          }
          for await (const volume of completeVolumes(bytes())) {
            for await (const one of readVolumes(streamed(volume.bytes))) next = take(one)
            from = next
            if (next === undefined) return lines
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Problem)
        }
      }
    }
    const expected = await records(40, null)
    for (const faults of [d1, r2])
      for (let skip = 0, reached = true; reached; skip++) {
        const lines = await records(40, () => faults.failAfter(skip, 'before'))
        reached = faults.calls > skip
        await settle()
        expect([skip, lines]).toEqual([skip, expected])
      }
  })
})
