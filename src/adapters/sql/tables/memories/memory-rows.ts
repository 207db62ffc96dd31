import type { Memory } from '../../../../domain/recall/memory'
import type { Row } from '../../core/connection'
import { num, numOrNull } from '../../core/rows'
import { toEntry } from '../entries/rows'

/** Reads a memory from the columns of one (`MEMORY_COLUMNS`). */
export const toMemory = (row: Row): Memory => ({
  ...toEntry(row),
  weight: num(row, 'weight'),
  pinned: Boolean(row.pinned),
  expiresAt: numOrNull(row, 'expires_at'),
  accessCount: num(row, 'access_count'),
})
