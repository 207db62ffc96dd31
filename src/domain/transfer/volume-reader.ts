import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { limitExceeded } from '../errors'
import { joined, lineError, linesOf, type RawLine, readLine } from './lines'
import { FORMAT, MAX_VOLUME_BYTES, MAX_VOLUME_ENTRIES, type RecordOf, type TransferRecord } from './records'
import { UNHASHED } from './volume-writer'

/** Checks that IDs in a volume are unique and that image bytes match their hash. */
class Uniqueness {
  /** The line of each key read so far. */
  private readonly met = new Map<string, number>()

  /**
   * Checks a record. @throws Problem for a repeated ID, an image after its use, or bytes that do not match their hash
   */
  check(record: TransferRecord, line: number): void {
    if (record.record === 'entry' || record.record === 'gone') this.once(`entry ${record.id}`, line)
    else if (record.record === 'version') this.once(`version ${record.version ?? 0} of entry ${record.id}`, line)
    else if (record.record === 'vector')
      this.once(`vector ${record.chunk} of entry ${record.entry} by ${record.model}`, line)
    else if (record.record === 'project') this.once(`project ${record.id}`, line)
    else if (record.record === 'image') this.image(record, line)
    if (record.record === 'entry' || record.record === 'version')
      for (const { sha256 } of record.images ?? []) {
        if (!this.met.has(`image ${sha256}`)) this.met.set(`use of image ${sha256}`, line)
      }
  }

  private once(key: string, line: number): void {
    const before = this.met.get(key)
    if (before !== undefined) throw lineError(line, `${key} is already in line ${before}`)
    this.met.set(key, line)
  }

  private image({ sha256, size, data, missing }: RecordOf<'image'>, line: number): void {
    this.once(`image ${sha256}`, line)
    const used = this.met.get(`use of image ${sha256}`)
    if (used !== undefined) throw lineError(line, `image ${sha256} comes after its use in line ${used}`)
    if (missing === true) {
      if (data !== undefined) throw lineError(line, 'an image with data cannot be marked as missing')
      return
    }
    if (data === undefined) throw lineError(line, 'an image needs data, or the mark missing')
    const bytes = Buffer.from(data, 'base64')
    if (bytes.length !== size) throw lineError(line, `the image has ${bytes.length} bytes, not ${size}`)
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw lineError(line, 'the bytes of the image do not match its hash')
  }
}

/** A record and its position. */
interface ReadRecord {
  /** Line number from 1, over all volumes. */
  readonly line: number
  /** Volume number in the manifest. */
  readonly volume: number
  readonly record: TransferRecord
  /** Its bytes as received, including the line end. */
  readonly bytes: Uint8Array
}

/** Checks one volume line by line. It stores only the IDs of the volume. */
class VolumeCheck {
  private readonly hash = createHash('sha256')
  private readonly counts: Record<string, number> = {}
  private readonly unique = new Uniqueness()
  private bytes = 0
  volume = 0
  ended = false

  take({ line, bytes }: RawLine): TransferRecord {
    this.bytes += bytes.length
    if (this.bytes > MAX_VOLUME_BYTES)
      throw limitExceeded(`line ${line}: the volume is larger than ${MAX_VOLUME_BYTES} bytes`)
    if (bytes.at(-1) !== 0x0a) throw lineError(line, 'has no line end: the volume is incomplete')
    const record = readLine(bytes.subarray(0, -1), line)
    if (this.volume === 0) this.begin(record, line)
    else if (record.record === 'manifest') throw lineError(line, 'is a manifest before the end of the volume')
    if (record.record === 'end') this.end(record, bytes, line)
    else {
      this.hash.update(bytes)
      this.counts[record.record] = (this.counts[record.record] ?? 0) + 1
      if ((this.counts.entry ?? 0) > MAX_VOLUME_ENTRIES)
        throw limitExceeded(`line ${line}: the volume has more than ${MAX_VOLUME_ENTRIES} entries`)
      this.unique.check(record, line)
    }
    return record
  }

  private begin(record: TransferRecord, line: number): void {
    if (record.record !== 'manifest') throw lineError(line, 'is not a manifest: a volume must start with one')
    if (record.format !== FORMAT)
      throw lineError(line, `has the unknown format ${JSON.stringify(record.format)}; only "${FORMAT}" is supported`)
    this.volume = record.volume
  }

  private end(record: RecordOf<'end'>, bytes: Uint8Array, line: number): void {
    const announced: Record<string, number | undefined> = { manifest: 1, ...record.counts }
    for (const name of new Set([...Object.keys(announced), ...Object.keys(this.counts)])) {
      const [said, there] = [announced[name] ?? 0, this.counts[name] ?? 0]
      if (said !== there) throw lineError(line, `counts ${said} ${name} records, but there are ${there}`)
    }
    const written = new TextDecoder().decode(bytes.subarray(-UNHASHED))
    if (written !== `${record.sha256}"}\n`) throw lineError(line, 'does not end with the hash of the volume')
    const sha256 = this.hash.update(bytes.subarray(0, -UNHASHED)).digest('hex')
    if (sha256 !== record.sha256) throw lineError(line, 'the bytes do not match this hash: the volume was altered')
    this.ended = true
  }
}

/**
 * Reads volumes one after another and checks everything the format guarantees except `content`, which needs the
 * complete export. Each record is returned once it is read; a volume is only valid once its `end` was returned.
 * @param most maximum number of volumes
 * @throws Problem that names the line of the first fault
 */
export async function* readVolumes(
  chunks: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<ReadRecord> {
  let check = new VolumeCheck()
  let volumes = 0
  let last = 0
  for await (const raw of linesOf(chunks)) {
    last = raw.line
    if (check.ended) {
      if (volumes >= most) throw lineError(raw.line, 'comes after the end of the volume')
      check = new VolumeCheck()
    }
    const before = check.volume
    const record = check.take(raw)
    if (before === 0) volumes++
    yield { line: raw.line, volume: check.volume, record, bytes: raw.bytes }
  }
  if (!check.ended) throw lineError(last + 1, 'is missing: the volume is incomplete, it has no end record')
}

/** A complete volume. */
interface WholeVolume {
  readonly volume: number
  readonly bytes: Uint8Array
  /** Its first line, over all volumes. */
  readonly line: number
}

/** Yields complete volumes, checked, as received; one is in memory at a time. @throws Problem like `readVolumes` */
export async function* completeVolumes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WholeVolume> {
  let lines: Uint8Array[] = []
  let begun = 1
  for await (const { record, line, volume, bytes } of readVolumes(chunks)) {
    if (lines.length === 0) begun = line
    // Lines are copied, because a source may reuse its buffer.
    lines.push(bytes.slice())
    if (record.record !== 'end') continue
    yield { volume, bytes: joined(lines), line: begun }
    lines = []
  }
}
