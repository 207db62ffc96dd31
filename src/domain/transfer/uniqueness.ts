import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { faultAt } from './line'
import type { RecordOf, TransferRecord } from './records'

/** What may stand in a volume once, and the bytes that must be of their hash. */
export class Uniqueness {
  /** Key of what was met → its line. */
  private readonly met = new Map<string, number>()

  /** @throws Problem for an id that was there before, an image behind its use, or bytes that are not of their hash */
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
    if (before !== undefined) throw faultAt(line, `${key} was told in line ${before} before`)
    this.met.set(key, line)
  }

  private image({ sha256, size, data, missing }: RecordOf<'image'>, line: number): void {
    this.once(`image ${sha256}`, line)
    const used = this.met.get(`use of image ${sha256}`)
    if (used !== undefined) throw faultAt(line, `image ${sha256} stands behind its use in line ${used}`)
    if (missing === true) {
      if (data !== undefined) throw faultAt(line, 'an image with data is not missing')
      return
    }
    if (data === undefined) throw faultAt(line, 'an image has data, or is missing')
    const bytes = Buffer.from(data, 'base64')
    if (bytes.length !== size) throw faultAt(line, `the image has ${bytes.length} bytes, not ${size}`)
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw faultAt(line, 'the bytes of the image are not of their hash')
  }
}
