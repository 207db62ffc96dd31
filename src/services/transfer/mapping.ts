import type { JsonObject } from '../../domain/entry/metadata'
import { withIds } from '../../domain/transfer/content'
import type { IncomingLink } from '../../domain/transfer/incoming'
import type { EntryRecord, RecordId, RecordOf } from '../../domain/transfer/records'
import type { Remembered, Waiting } from '../../ports/import-store'
import { keepable } from './decide'
import { namedIn } from './volume-in-hand'

/** Characters of ids that are remembered. */
export const MAX_ID = 256

/** Which entry of a file is which entry here. */
export class Mapping {
  /** Theirs → ours, of all that is here or gets an id. */
  readonly ours = new Map<string, number>()
  private theirs: Map<number, string> | null = null
  /** Links of entries here to deleted entries or ones that the caller cannot read; an exported file does not have them. */
  private readonly hidden = new Map<number, readonly IncomingLink[]>()

  /** @param known what is remembered, by their ids */
  constructor(readonly known: Map<string, Remembered>) {
    for (const [id, { entryId }] of known) this.ours.set(id, entryId)
  }

  /**
   * Metadata and links with ids here: what has none is named in metadata as it was, and links to nothing. Links to what the caller may not
   * read, and to deleted entries, stay, but where the metadata that made them no longer names it.
   */
  mapped({ record, id: theirs, metadata, links = [] }: EntryRecord | RecordOf<'version'>): {
    readonly metadata: JsonObject | undefined
    readonly links: IncomingLink[]
  } {
    const named = new Set<string>()
    const mapped =
      metadata &&
      withIds(metadata, (id) => {
        const to = this.ours.get(String(id))
        named.add(String(to ?? id))
        return to === undefined ? id : typeof id === 'string' ? String(to) : to
      })
    const known = links.flatMap(({ relation, to, origin }) => {
      const here = this.ours.get(String(to))
      return here === undefined ? [] : [{ relation, to: here, origin }]
    })
    // What a kept state linked to is what its own record tells.
    const hidden = record === 'entry' ? (this.hidden.get(this.ours.get(String(theirs)) ?? 0) ?? []) : []
    const isTold = (link: IncomingLink) =>
      known.some(({ relation, to, origin }) => relation === link.relation && to === link.to && origin === link.origin)
    const stay = hidden.filter((link) => (link.origin !== 'metadata' || named.has(String(link.to))) && !isTold(link))
    return { metadata: mapped, links: [...known, ...stay] }
  }

  /**
   * Learns which links of entries here lead to what the caller may not read, or to what is deleted.
   *
   * @param read of these ids, which he may
   */
  async keepHidden(
    standing: readonly EntryRecord[],
    read: (ids: readonly number[]) => Promise<ReadonlySet<number>>,
  ): Promise<void> {
    const linked = standing.flatMap(({ links = [] }) => links.map(({ to }) => Number(to)))
    const unknown = [...new Set(linked)].filter((id) => {
      const their = this.theirOf(id)
      return their === undefined || this.known.get(their)?.standing === null
    })
    if (unknown.length === 0) return
    const readable = await read(unknown)
    const hides = new Set(unknown.filter((id) => !readable.has(id)))
    for (const { id, links = [] } of standing) {
      const hidden = links.map((link) => ({ ...link, to: Number(link.to) })).filter(({ to }) => hides.has(to))
      this.hidden.set(Number(id), hidden)
    }
  }

  /** What an entry says of ones that have not come. */
  waitingOf(record: EntryRecord): Waiting[] {
    const unknown = (id: string) => !this.ours.has(id) && id !== '' && id.length <= MAX_ID
    const waiting: Waiting[] = (record.links ?? [])
      .filter(({ to }) => unknown(String(to)))
      .map(({ relation, to, origin }) => ({ theirId: String(to), link: { relation, origin } }))
    const names = new Set<string>()
    namedIn({ ...record, links: [] }, (id) => names.add(id))
    for (const id of names) if (unknown(id)) waiting.push({ theirId: id, link: null })
    return waiting
  }

  /** Of these ids those that are others here: theirs, ours. */
  differing(ids: readonly string[]): [RecordId, number][] {
    return ids.flatMap((id): [RecordId, number][] => {
      const ours = this.ours.get(id)
      return ours === undefined || String(ours) === id ? [] : [[keepable(id) ?? id, ours]]
    })
  }

  /** Their id of an entry here. */
  theirOf(id: number): string | undefined {
    if (this.theirs?.size !== this.ours.size)
      this.theirs = new Map([...this.ours].map(([their, ours]) => [ours, their]))
    return this.theirs.get(id)
  }
}
