import { type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../../../domain/time'
import { WORK_TOPICS } from '../../../../ports/outbox'
import type { Decode } from '../../core/batch'
import { flag } from '../../core/rows'

/** A claim that nobody held on to for this long belongs to a worker that died: no single step of work takes half of it. */
export const LEASE_MS = 120_000

/** Whoever writes vectors tells their index of them (services/keeping/left-work.ts); its row is for when that fails. */
const OWN_WORK = 'vector_sync'
const topics = sql.join(
  WORK_TOPICS.filter((topic) => topic !== OWN_WORK).map((topic) => sql`${topic}`),
  sql`, `,
)

/** Whether work is due that somebody is to do. */
export const dueStatement = (now: Millis): SQL => sql`
  SELECT CASE WHEN EXISTS (SELECT 1 FROM outbox o WHERE o.topic IN (${topics}) AND o.due_at <= ${now}) THEN 1 ELSE 0 END AS due`

export const toDue: Decode<boolean> = ([row]) => row !== undefined && flag(row, 'due')

/** After so long nobody tells the index of what its writer has not told. */
const WRITERS_MS = 600_000

/** Work that is not being done: all but what a writer is about to tell an index. */
export const isUndone = (now: Millis): SQL =>
  sql`NOT (o.topic = ${OWN_WORK} AND o.state = 'pending' AND o.attempts = 0 AND o.created_at > ${now - WRITERS_MS})`
