import { entryContent, type Inside, MODULUS } from './content'
import type { EntryRecord } from './records'

/** What the content of a volume and that of its entries as they stand in another store differ by. */
export interface ContentDifference {
  /**
   * @param told with ids of the other store
   * @param standing what stands there, null for nothing
   * @param inside the volume, by ids of the other store
   */
  note(told: EntryRecord, standing: EntryRecord | null, inside: Inside): void
  appliedTo(content: string): string
}

export function contentDifference(): ContentDifference {
  let sum = 0n
  return {
    note(told, standing, inside) {
      const before = entryContent(told, inside)
      const after = standing === null ? 0n : entryContent(asTold(told, standing), inside)
      sum += after - before
    },
    appliedTo: (content) =>
      ((((BigInt(`0x${content}`) + sum) % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0'),
  }
}

/** What stands there, without what a source need not tell. */
export const asTold = (told: EntryRecord, standing: EntryRecord): EntryRecord => ({
  ...standing,
  ...(told.owner === undefined && told.created_by === undefined ? { owner: undefined } : {}),
  ...(told.created_by === undefined ? { created_by: undefined } : {}),
  ...(told.created_at === undefined ? { created_at: undefined } : {}),
})
