import type { Memory } from '../../../../domain/recall/memory'
import type { Row } from '../../core/connection'
import { toEntry } from '../entries/rows'

/** Reads a memory from the columns of one (`MEMORY_COLUMNS`). */
export const toMemory = (row: Row): Memory => ({
  ...toEntry(row),
  weight: Number(row.weight),
  pinned: Boolean(row.pinned),
  expiresAt: row.expires_at === null ? null : Number(row.expires_at),
  accessCount: Number(row.access_count),
})
