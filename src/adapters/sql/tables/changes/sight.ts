import { sql } from 'drizzle-orm'
import type { Place, Sight } from '../../../../domain/history/feed'
import type { Row } from '../../core/connection'

/** What a row of `changes` called `c` says of places and of who may see them: what `toSight` reads. */
export const SIGHT_COLUMNS = sql.raw(
  'c.entry_id, c.erased, c.thread_id, c.project, c.reader, c.was_thread, c.was_project, c.was_reader',
)

const place = (threadId: unknown, project: unknown, reader: unknown): Place | null =>
  reader === null
    ? null
    : { threadId: threadId as string | null, project: project as string | null, reader: reader as string }

/** Who could see the entry of a row of `changes` before and after. */
export const toSight = (row: Row): Sight => ({
  entryId: Number(row.entry_id),
  before: place(row.was_thread, row.was_project, row.was_reader),
  after: place(row.thread_id, row.project, row.reader),
  erased: Number(row.erased) === 1,
})
