import { createHash } from 'node:crypto'
import { limitExceeded } from '../errors'
import { ContentSum, type Inside } from './content-checksum'
import { joined, writeLine } from './lines'
import { type CarriedRecord, type Counts, FORMAT, MAX_VOLUME_BYTES, MAX_VOLUME_ENTRIES, type RecordOf } from './records'

/** The manifest members that all volumes of an export share. */
export type ManifestOfAll = Omit<RecordOf<'manifest'>, 'record' | 'format' | 'volume'>

/** Bytes reserved for the end record: its counts and hashes need less than 500, the rest is for `next`. */
const END_BYTES = 4_096
/** Bytes that the hash does not cover: the hash itself, a quote, a brace and the line end. */
export const UNHASHED = 67
const utf8 = new TextEncoder()

/** Writes one volume line by line. It stores only counters. */
export class VolumeWriter {
  private readonly hash = createHash('sha256')
  private readonly content = new ContentSum()
  private readonly counts: Record<string, number> = {}
  private bytes = 0

  /**
   * @param inside entries of the export; it must know every entry that this volume refers to
   * @param limits maximum entries and bytes of a volume
   */
  constructor(
    private readonly manifest: RecordOf<'manifest'>,
    private readonly inside: Inside,
    private readonly limits = { entries: MAX_VOLUME_ENTRIES, bytes: MAX_VOLUME_BYTES },
  ) {}

  /** The first line. */
  begin(): Uint8Array {
    this.counts.manifest = 1
    return this.written(utf8.encode(writeLine(this.manifest)))
  }

  /**
   * The line of a record, or null when it belongs in the next volume. @throws Problem for a record larger than a volume
   */
  add(record: CarriedRecord): Uint8Array | null {
    const line = utf8.encode(writeLine(record))
    const entries = this.counts.entry ?? 0
    const full = this.bytes + line.length > this.limits.bytes - END_BYTES
    if (full || (record.record === 'entry' && entries >= this.limits.entries)) {
      if (Object.keys(this.counts).length > 1) return null
      throw limitExceeded(
        `a ${record.record} of ${line.length} bytes is larger than a volume (${this.limits.bytes} bytes)`,
      )
    }
    this.counts[record.record] = (this.counts[record.record] ?? 0) + 1
    if (record.record === 'entry') this.content.add(record, this.inside)
    return this.written(line)
  }

  /** The last line. @param next position from which the export continues */
  end(next?: string): { readonly line: Uint8Array; readonly counts: Counts; readonly content: string } {
    const { counts } = this
    const content = this.content.text
    const line = utf8.encode(writeLine({ record: 'end', counts, content, next, sha256: '0'.repeat(64) }))
    const covered = line.subarray(0, line.length - UNHASHED)
    const sha256 = this.hash.update(covered).digest('hex')
    line.set(utf8.encode(sha256), covered.length)
    return { line, counts, content }
  }

  private written(line: Uint8Array): Uint8Array {
    this.hash.update(line)
    this.bytes += line.length
    return line
  }
}

export const manifestOf = (all: ManifestOfAll, volume: number): RecordOf<'manifest'> => ({
  record: 'manifest',
  ...all,
  format: FORMAT,
  volume,
})

/** A complete volume. */
export interface Volume {
  readonly volume: number
  readonly bytes: Uint8Array
  readonly counts: Counts
  readonly content: string
}

/**
 * Writes records to as many volumes as needed; one is in memory at a time. Without records there is one empty volume.
 * @param inside must know all entries of the records before the first one is written
 */
export async function* writeVolumes(
  all: ManifestOfAll,
  records: AsyncIterable<CarriedRecord> | Iterable<CarriedRecord>,
  inside: Inside,
): AsyncGenerator<Volume> {
  let number = 1
  let writer = new VolumeWriter(manifestOf(all, number), inside)
  let lines = [writer.begin()]
  const ended = (): Volume => {
    const { line, counts, content } = writer.end()
    return { volume: number, bytes: joined([...lines, line]), counts, content }
  }
  for await (const record of records) {
    let line = writer.add(record)
    if (line === null) {
      yield ended()
      writer = new VolumeWriter(manifestOf(all, ++number), inside)
      lines = [writer.begin()]
      line = writer.add(record)
    }
    if (line !== null) lines.push(line)
  }
  yield ended()
}
