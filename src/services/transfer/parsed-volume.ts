import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { stableId, withIds } from '../../domain/transfer/content-checksum'
import { readLine } from '../../domain/transfer/lines'
import type { EntryRecord, RecordOf, TransferRecord } from '../../domain/transfer/records'
import { decodeBase64 } from '../../domain/transfer/seal'
import { readVolumes } from '../../domain/transfer/volume-reader'
import { type SecretScan, scanRecord } from './scan-records'

/** An image in a volume. Its line is not retained, because it is a third longer than the bytes. */
export interface Picture {
  readonly line: number
  readonly hash: string
  readonly bytes: Uint8Array
}

/** A complete, validated volume with its lines and their indexes. */
export interface ParsedVolume {
  readonly manifest: RecordOf<'manifest'>
  readonly end: RecordOf<'end'>
  /** Lines between manifest and end except images, with their line numbers. */
  readonly lines: readonly { readonly line: number; readonly bytes: Uint8Array }[]
  /** Stable names of its entries, by ID. */
  readonly stable: ReadonlyMap<string, string>
  /** IDs of its records. */
  readonly ids: readonly string[]
  /** IDs that its records refer to. */
  readonly named: ReadonlySet<string>
  /** IDs of deleted entries that have past versions in the volume. */
  readonly states: ReadonlySet<string>
  /** Images with bytes. The uploader removes them, to free memory. */
  readonly pictures: Picture[]
  /** Hashes of the images in its entries. */
  readonly images: ReadonlySet<string>
  /** Images without bytes according to the file. */
  readonly missing: ReadonlySet<string>
  /** Records that may contain secrets or that address an agent, by line. */
  readonly screenings: ReadonlyMap<number, SecretScan>
}

/** Reports the IDs that an entry or a past version refers to. */
export function namedIn({ metadata, links = [] }: EntryRecord | RecordOf<'version'>, note: (id: string) => void): void {
  for (const { to } of links) note(String(to))
  if (metadata !== undefined)
    withIds(metadata, (id) => {
      note(String(id))
      return id
    })
}

/** Reads and validates a volume. @throws Problem with the line of the first error */
export async function readVolume(chunks: AsyncIterable<Uint8Array>): Promise<ParsedVolume> {
  let manifest: RecordOf<'manifest'> | null = null
  let end: RecordOf<'end'> | null = null
  const lines: { line: number; bytes: Uint8Array }[] = []
  const pictures: Picture[] = []
  const stable = new Map<string, string>()
  const ids = new Set<string>()
  const named = new Set<string>()
  const images = new Set<string>()
  const missing = new Set<string>()
  const states = new Set<string>()
  const screenings = new Map<number, SecretScan>()
  for await (const { record, line, bytes } of readVolumes(chunks, 1)) {
    await scheduler.tick(bytes.length / VOLUME_UNITS)
    if (record.record === 'manifest') manifest = record
    else if (record.record === 'end') end = record
    else if (record.record === 'image') {
      const { sha256: hash, data } = record
      if (data === undefined) missing.add(hash)
      else pictures.push({ line, hash, bytes: decodeBase64(data) })
    }
    // A line may be a view of a buffer that its source reuses.
    else lines.push({ line, bytes: bytes.slice(0, -1) })
    if (record.record === 'version') states.add(String(record.id))
    if (record.record === 'entry') stable.set(String(record.id), stableId(record))
    if (record.record === 'entry' || record.record === 'version') {
      namedIn(record, (id) => named.add(id))
      const screening = scanRecord(record)
      if (screening !== null) screenings.set(line, screening)
      await scheduler.tick(record.text.length)
      for (const { sha256 } of record.images ?? []) images.add(sha256)
    }
    if (record.record === 'entry' || record.record === 'version' || record.record === 'gone') ids.add(String(record.id))
    if (record.record === 'vector') ids.add(String(record.entry))
  }
  if (manifest === null || end === null) throw new Error('a volume has a manifest and an end')
  for (const id of stable.keys()) states.delete(id)
  return { manifest, end, lines, pictures, stable, ids: [...ids], named, states, images, missing, screenings }
}

/** A record of the volume with its line number. */
export interface Lined<R extends TransferRecord = TransferRecord> {
  readonly line: number
  readonly record: R
}

/** Entries of one batch. */
const BATCH = 100
/** Bytes of lines of one batch. */
const BATCH_BYTES = 4_000_000

/** Yields the records in batches. */
export function* batchesOf({ lines }: ParsedVolume): Generator<Lined[]> {
  let batch: Lined[] = []
  let heads = 0
  let size = 0
  for (const { line, bytes } of lines) {
    const record = readLine(bytes, line)
    const head = record.record === 'entry' || record.record === 'gone'
    if (batch.length > 0 && ((head && heads >= BATCH) || size + bytes.length > BATCH_BYTES)) {
      yield batch
      batch = []
      heads = 0
      size = 0
    }
    batch.push({ line, record })
    heads += Number(head)
    size += bytes.length
  }
  if (batch.length > 0) yield batch
}
