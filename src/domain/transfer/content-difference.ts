import { entryContent, type Inside, MODULUS } from './content'
import type { EntryRecord } from './records'

/** What the content of a volume and that of its entries as they stand in another store differ by. */
interface ContentDifference {
  /**
   * @param sent with ids of the other store
   * @param standing what stands there, null for nothing
   * @param inside the volume, by ids of the other store
   */
  note(sent: EntryRecord, standing: EntryRecord | null, inside: Inside): void
  appliedTo(content: string): string
}

export function contentDifference(): ContentDifference {
  let sum = 0n
  return {
    note(sent, standing, inside) {
      const before = entryContent(sent, inside)
      const after = standing === null ? 0n : entryContent(asSent(sent, standing), inside)
      sum += after - before
    },
    appliedTo: (content) =>
      ((((BigInt(`0x${content}`) + sum) % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0'),
  }
}

/** What stands there, without what a source need not tell. */
export const asSent = (sent: EntryRecord, standing: EntryRecord): EntryRecord => ({
  ...standing,
  ...(sent.owner === undefined && sent.created_by === undefined ? { owner: undefined } : {}),
  ...(sent.created_by === undefined ? { created_by: undefined, imported_from: undefined } : {}),
  ...(sent.created_at === undefined ? { created_at: undefined } : {}),
})
