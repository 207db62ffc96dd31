import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Problem } from '../../src/domain/errors'
import { ContentSum, canonicalJson, KnownIds } from '../../src/domain/transfer/content-checksum'
import { joined, writeLine } from '../../src/domain/transfer/lines'
import type { CarriedRecord, EntryRecord, TransferRecord } from '../../src/domain/transfer/records'
import { verifyExport } from '../../src/domain/transfer/verify'
import { completeVolumes, readVolumes } from '../../src/domain/transfer/volume-reader'
import { type Volume, VolumeWriter, writeVolumes } from '../../src/domain/transfer/volume-writer'
import { ANY } from '../support/any-text'

const ALL = { store: 'test:here', at: '2026-11-23T10:00:00.000Z' }
const utf8 = (text: string) => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

async function* inPieces(bytes: Uint8Array, size = 4096) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const knownOf = (records: readonly CarriedRecord[]): KnownIds => {
  const known = new KnownIds()
  for (const record of records) {
    if (record.record === 'entry') known.note(record)
    if (record.record === 'image' && record.missing) known.noteMissing(record.sha256)
  }
  return known
}

async function volumesOf(records: readonly CarriedRecord[]): Promise<Volume[]> {
  const volumes: Volume[] = []
  for await (const volume of writeVolumes(ALL, records, knownOf(records))) volumes.push(volume)
  return volumes
}

const fileOf = async (records: readonly CarriedRecord[]): Promise<Uint8Array> =>
  joined((await volumesOf(records)).map(({ bytes }) => bytes))

async function readAll(bytes: Uint8Array, size?: number, most?: number): Promise<TransferRecord[]> {
  const records: TransferRecord[] = []
  for await (const { record } of readVolumes(inPieces(bytes, size), most)) records.push(record)
  return records
}

/** The error message of reading a volume. */
const faultOf = async (bytes: Uint8Array, most?: number): Promise<string> =>
  readAll(bytes, 4096, most).then(
    () => 'taken',
    (error: unknown) => (error instanceof Problem ? error.message : `not a Problem: ${error}`),
  )

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const time = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString())
const hash = fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => sha256(bytes))
const metadata = fc.dictionary(words, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<never>, { maxKeys: 4 })

const entry = (id: EntryRecord['id']): fc.Arbitrary<EntryRecord> =>
  fc.record(
    {
      record: fc.constant('entry' as const),
      id: fc.constant(id),
      thread_id: words,
      source: fc.constantFrom('user' as const, 'agent' as const),
      text: fc.string({ unit: ANY, minLength: 1, maxLength: 100 }).map((text) => text.toWellFormed()),
      metadata,
      tags: fc.array(words, { maxLength: 3 }),
      images: fc.array(
        fc.record(
          { sha256: hash, mime_type: fc.constant('image/png'), size: fc.nat() },
          { requiredKeys: ['sha256', 'mime_type', 'size'] },
        ),
        { maxLength: 2 },
      ),
      project: words,
      created_at: time,
      version: fc.integer({ min: 1, max: 9 }),
      layer: fc.integer({ min: 1, max: 3 }),
      weight: fc.integer({ min: 1, max: 5 }),
      pinned: fc.boolean(),
      links: fc.array(
        fc.record({
          relation: words,
          to: fc.integer({ min: 1, max: 8 }),
          origin: fc.constantFrom('metadata', 'remember', 'system'),
        }),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: ['record', 'id', 'thread_id', 'source', 'text'] },
  )

const entries = fc
  .uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 6 })
  .chain((ids) => fc.tuple(...ids.sort((a, b) => a - b).map(entry)))

const one: EntryRecord = {
  record: 'entry',
  id: 1,
  thread_id: 't',
  source: 'agent',
  text: 'x',
  created_at: '2026-10-05T08:00:00.000Z',
}

it('writes the members of a record in one order, without empty ones', () => {
  expect(
    writeLine({
      ...one,
      metadata: {},
      tags: [],
      summary: '',
      layer: 2,
      weight: 3,
      pinned: false,
      archived: true,
      project: 'p',
    }),
  ).toBe(
    '{"record":"entry","id":1,"thread_id":"t","source":"agent","text":"x","metadata":{},"project":"p",' +
      '"created_at":"2026-10-05T08:00:00.000Z","archived":true}\n',
  )
})

it('keeps all digits of large integers in a volume', async () => {
  const bytes = await fileOf([{ ...one, metadata: { n: 2 ** 60, f: 1e20 } }])
  expect(new TextDecoder().decode(bytes)).toContain('"n":1152921504606846976')
  expect((await readAll(bytes))[1]).toMatchObject({ metadata: { n: 2 ** 60, f: 1e20 } })
})

it('hashes every byte of a volume but its last 67', async () => {
  const bytes = await fileOf([one])
  const end = JSON.parse(new TextDecoder().decode(bytes).trimEnd().split('\n').at(-1) ?? '')
  expect(end.sha256).toBe(sha256(bytes.subarray(0, -67)))
  expect(end.counts).toEqual({ manifest: 1, entry: 1 })
  expect(Object.keys(end).at(-1)).toBe('sha256')
})

it('reads back every volume that it writes, in pieces of any size', async () => {
  await fc.assert(
    fc.asyncProperty(entries, fc.integer({ min: 1, max: 500 }), async (records, size) => {
      const bytes = await fileOf(records)
      const read = await readAll(bytes, size)
      const carried = read.filter((record) => record.record === 'entry')
      expect(carried.map(writeLine)).toEqual(records.map(writeLine))
    }),
    { numRuns: 40 },
  )
})

it('refuses a volume that is cut at any byte', async () => {
  await fc.assert(
    fc.asyncProperty(entries, fc.nat(), async (records, at) => {
      const bytes = await fileOf(records)
      expect(await faultOf(bytes.subarray(0, at % bytes.length))).toMatch(/^line \d+: .*incomplete/)
    }),
  )
})

it('refuses a volume in which any byte is altered', async () => {
  await fc.assert(
    fc.asyncProperty(entries, fc.nat(), fc.integer({ min: 1, max: 255 }), async (records, at, by) => {
      const bytes = (await fileOf(records)).slice()
      const place = at % bytes.length
      bytes[place] = (bytes[place] ?? 0) ^ by
      expect(await faultOf(bytes)).toMatch(/^line \d+: /)
    }),
  )
})

/** A volume of these lines with valid counts and hash. */
function handMade(lines: readonly string[], counts: Record<string, number>): Uint8Array {
  const manifest = writeLine({ record: 'manifest', format: 'commonplace/1', ...ALL, volume: 1 })
  const body = `${manifest}${lines.map((line) => `${line}\n`).join('')}{"record":"end","counts":${JSON.stringify(counts)},"content":"${'0'.repeat(64)}","sha256":"`
  return utf8(`${body}${sha256(body)}"}\n`)
}
const line = (record: TransferRecord) => writeLine(record).trimEnd()

it('names the line of each fault of a volume', async () => {
  const png = { record: 'image', sha256: sha256('abc'), mime_type: 'image/png', size: 3, data: btoa('abc') } as const
  const cases: [lines: string[], counts: Record<string, number>, fault: string][] = [
    [['{"record":"entri"}'], { entry: 1 }, 'line 2: has the unknown record type "entri"'],
    [[line(one).replace('"source"', '"sauce"')], { entry: 1 }, 'line 2: has the unknown member "sauce"'],
    [[line(one).replace('"agent"', '"robot"')], { entry: 1 }, 'line 2: source must be "user" or "agent"'],
    [['{"record":"entry","id":1,"thread_id":"t","source":"user"}'], { entry: 1 }, 'line 2: has no text'],
    [
      [line(one).replace('}', ',"metadata":{"n":9007199254740993}}')],
      { entry: 1 },
      'line 2: holds a number that is the integer',
    ],
    [[line(one), line({ ...one, thread_id: 'u' })], { entry: 2 }, 'line 3: entry 1 is already in line 2'],
    [[line(one), '{"record":"gone","id":"1"}'], { entry: 1, gone: 1 }, 'line 3: entry 1 is already in line 2'],
    [[line(one)], { entry: 2 }, 'line 3: counts 2 entry records, but there are 1'],
    [['', line(one)], { entry: 1 }, 'line 2: is not valid JSON'],
    [[line({ ...png, size: 4 })], { image: 1 }, 'line 2: the image has 3 bytes, not 4'],
    [[line({ ...png, sha256: sha256('abd') })], { image: 1 }, 'line 2: the bytes of the image do not match its hash'],
    [
      [line({ ...one, images: [{ sha256: png.sha256, mime_type: png.mime_type, size: 3 }] }), line(png)],
      { entry: 1, image: 1 },
      'comes after its use in line 2',
    ],
    [[line(png), line(png)], { image: 2 }, 'line 3: image'],
    [[line(one).replace('000Z', '00Z')], { entry: 1 }, 'line 2: created_at must be a time'],
  ]
  for (const [lines, counts, fault] of cases) expect(await faultOf(handMade(lines, counts))).toContain(fault)
  expect(await faultOf(handMade([line(one), line(png)], { entry: 1, image: 1 }))).toBe('taken')
  expect(await faultOf(new Uint8Array())).toBe(
    'line 1: is missing: the volume is incomplete, it has no end record; nothing of this volume is imported',
  )
})

it('refuses another format, a second volume where one is expected, and bytes that are not UTF-8', async () => {
  const good = await fileOf([one])
  const other = utf8(new TextDecoder().decode(good).replace('commonplace/1', 'commonplace/2'))
  expect(await faultOf(other)).toContain('line 1: has the unknown format "commonplace/2"')
  expect(await faultOf(joined([good, good]), 1)).toContain('line 4: comes after the end of the volume')
  expect(await faultOf(joined([good.subarray(0, 20), Uint8Array.of(0xff), good.subarray(20)]))).toContain(
    'line 1: is not UTF-8',
  )
  expect(await faultOf(joined([Uint8Array.of(0xef, 0xbb, 0xbf), good]))).toContain('line 1: is not valid JSON')
})

it('starts a new volume after 1,000 entries and before 16,000,000 bytes', async () => {
  const many = Array.from({ length: 2_001 }, (_, i): EntryRecord => ({ ...one, id: i + 1 }))
  expect((await volumesOf(many)).map(({ counts }) => counts.entry)).toEqual([1000, 1000, 1])
  const large = Array.from({ length: 3 }, (_, i): EntryRecord => ({ ...one, id: i + 1, text: 'y'.repeat(5_400_000) }))
  const volumes = await volumesOf(large)
  expect(volumes.map(({ counts }) => counts.entry)).toEqual([2, 1])
  expect(Math.max(...volumes.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(16_000_000)
  expect(await faultOf(joined(volumes.map(({ bytes }) => bytes)))).toBe('taken')
})

it('refuses a record that no volume could hold', () => {
  const writer = new VolumeWriter({ record: 'manifest', format: 'commonplace/1', ...ALL, volume: 1 }, new KnownIds())
  writer.begin()
  expect(() => writer.add({ ...one, text: 'y'.repeat(16_000_000) })).toThrow(/is larger than a volume/)
})

it('writes an export of nothing as one volume without records', async () => {
  expect((await volumesOf([])).map(({ counts, content }) => ({ counts, content }))).toEqual([
    { counts: { manifest: 1 }, content: '0'.repeat(64) },
  ])
})

it('writes RFC 8785: names by UTF-16 units, numbers as ECMAScript writes them', () => {
  const members = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 }
  expect(Object.keys(JSON.parse(canonicalJson(members)))).toHaveLength(7)
  expect([...canonicalJson(members).matchAll(/:(\d)/g)].map(([, n]) => n).join('')).toBe('2467153')
  expect(canonicalJson([Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  )
  expect(canonicalJson({ b: null, a: [true, '\u000f"\\/'] })).toBe('{"a":[true,"\\u000f\\"\\\\/"],"b":null}')
})

const contentOf = (records: readonly EntryRecord[], missing: readonly string[] = []): string => {
  const known = knownOf(records)
  for (const sha of missing) known.noteMissing(sha)
  const sum = new ContentSum()
  for (const record of records) sum.add(record, known)
  return sum.text
}

it('gives the content of an entry by the hash that the contract describes', () => {
  const form = '{"created_at":"2026-10-05T08:00:00.000Z","source":"agent","text":"x","thread_id":"t"}'
  expect(contentOf([one])).toBe(sha256(form))
  expect(contentOf([{ ...one, layer: 2, weight: 3, version: 7, summary: 's', title: 'y', access_count: 3 }])).toBe(
    sha256(form),
  )
  const stable = `${sha256('x')}@2026-10-05T08:00:00.000Z`
  const other: EntryRecord = {
    ...one,
    id: 2,
    text: 'z',
    metadata: { supersedes: 1, depends_on: ['1', 77] },
    links: [
      { relation: 'supersedes', to: 1, origin: 'metadata' },
      { relation: 'depends_on', to: 77, origin: 'metadata' },
    ],
  }
  const linked =
    `{"created_at":"2026-10-05T08:00:00.000Z","links":[{"origin":"metadata","relation":"supersedes","to":"${stable}"}],` +
    `"metadata":{"depends_on":["${stable}",77],"supersedes":"${stable}"},"source":"agent","text":"z","thread_id":"t"}`
  const sum = (BigInt(`0x${sha256(form)}`) + BigInt(`0x${sha256(linked)}`)) % (1n << 256n)
  expect(contentOf([one, other])).toBe(sum.toString(16).padStart(64, '0'))
})

it('gives a content that knows no ids, no order, no sizes of images and no missing images', async () => {
  await fc.assert(
    fc.property(entries, fc.integer({ min: 100, max: 1000 }), (records, shift) => {
      const ids = new Set(records.map(({ id }) => Number(id)))
      const moved = records.map((record) => ({
        ...record,
        id: Number(record.id) + shift,
        ...(record.images === undefined ? {} : { images: record.images.map((image) => ({ ...image, size: 0 })) }),
        ...(record.links === undefined
          ? {}
          : {
              links: record.links.map((link) => ({
                ...link,
                to: ids.has(Number(link.to)) ? Number(link.to) + shift : link.to,
              })),
            }),
      }))
      const untouched = records.every(({ metadata = {} }) => !('references' in metadata || 'supersedes' in metadata))
      fc.pre(untouched)
      expect(contentOf(moved.toReversed())).toBe(contentOf(records))
    }),
  )
  const missing = sha256('gone')
  const pictured: EntryRecord = { ...one, images: [{ sha256: missing, mime_type: 'image/png', size: 4 }] }
  expect(contentOf([pictured], [missing])).toBe(contentOf([one]))
  expect(contentOf([pictured])).not.toBe(contentOf([one]))
})

it('verifies an export whose entries name each other across volumes', async () => {
  const many = Array.from(
    { length: 1_500 },
    (_, i): EntryRecord => ({
      ...one,
      id: i + 1,
      thread_id: i % 2 === 0 ? 'even' : 'odd',
      text: `text ${i}`,
      metadata: { supersedes: 1_500 - i },
    }),
  )
  const bytes = await fileOf(many)
  const verified = await verifyExport(() => inPieces(bytes))
  expect(verified.volumes.map(({ content, computed }) => content === computed)).toEqual([true, true])
  expect(verified.content).toBe(contentOf(many))
  expect(verified.counts).toEqual({ manifest: 2, entry: 1500 })
  expect([...verified.threads].map(([id, { entries }]) => [id, entries])).toEqual([
    ['even', 750],
    ['odd', 750],
  ])
})

it('refuses volumes of an export that are out of order or of two exports', async () => {
  const many = Array.from({ length: 1_001 }, (_, i): EntryRecord => ({ ...one, id: i + 1 }))
  const [first, second] = (await volumesOf(many)).map(({ bytes }) => bytes)
  const verify = (parts: (Uint8Array | undefined)[]) =>
    verifyExport(() => inPieces(joined(parts.filter((part) => part !== undefined))))
  await expect(verify([second, first])).rejects.toThrow(/line 4: is volume 1, but the volume before it is volume 2/)
  await expect(verify([first, first])).rejects.toThrow(/line 1003: is volume 1, but the volume before it is volume 1/)
})

it('returns each complete volume of a file once its end has been read', async () => {
  const many = Array.from({ length: 1_001 }, (_, i): EntryRecord => ({ ...one, id: i + 1 }))
  const volumes = await volumesOf(many)
  const file = joined(volumes.map(({ bytes }) => bytes))
  const seen: Uint8Array[] = []
  await expect(async () => {
    for await (const { bytes } of completeVolumes(inPieces(file.subarray(0, -1)))) seen.push(bytes)
  }).rejects.toThrow(/incomplete/)
  expect(seen).toEqual([volumes[0]?.bytes])
  for await (const { bytes, volume } of completeVolumes(inPieces(file))) if (volume === 2) seen.push(bytes)
  expect(seen).toEqual(volumes.map(({ bytes }) => bytes))
})
