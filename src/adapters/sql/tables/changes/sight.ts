import { sql } from 'drizzle-orm'
import type { Place, Sight } from '../../../../domain/history/feed'
import type { Row } from '../../core/connection'
import { flag, num, strOrNull } from '../../core/rows'

/** What a row of `changes` called `c` says of places and of who may see them: what `toSight` reads. */
export const SIGHT_COLUMNS = sql.raw(
  'c.entry_id, c.erased, c.thread_id, c.project, c.reader, c.was_thread, c.was_project, c.was_reader',
)

const place = (row: Row, was: 'was_' | ''): Place | null => {
  const reader = strOrNull(row, `${was}reader`)
  return reader === null
    ? null
    : {
        threadId: strOrNull(row, `${was}${was === '' ? 'thread_id' : 'thread'}`),
        project: strOrNull(row, `${was}project`),
        reader,
      }
}

/** Who could see the entry of a row of `changes` before and after. */
export const toSight = (row: Row): Sight => ({
  entryId: num(row, 'entry_id'),
  before: place(row, 'was_'),
  after: place(row, ''),
  erased: flag(row, 'erased'),
})
