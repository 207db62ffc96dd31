import { type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../../../domain/time'
import { WORK_TOPICS } from '../../../../ports/outbox'
import type { Decode } from '../../core/batch'
import { flag } from '../../core/rows'

/** Duration of a lease: an older one belongs to a worker that died, since no step takes half as long. */
export const LEASE_MS = 120_000

/**
 * Topic of the vector index, which the writer of vectors updates itself (services/maintenance/outbox-work.ts); the row is for its failure.
 */
const OWN_WORK = 'vector_sync'
const topics = sql.join(
  WORK_TOPICS.filter((topic) => topic !== OWN_WORK).map((topic) => sql`${topic}`),
  sql`, `,
)

/** Returns whether background work is pending. */
export const dueStatement = (now: Millis): SQL => sql`
  SELECT CASE WHEN EXISTS (SELECT 1 FROM outbox o WHERE o.topic IN (${topics}) AND o.due_at <= ${now}) THEN 1 ELSE 0 END AS due`

export const toDue: Decode<boolean> = ([row]) => row !== undefined && flag(row, 'due')

/** Time after which the schedule updates the index for a writer that did not. */
const WRITERS_MS = 600_000

/** Matches pending work, except index updates that their writer is about to make. */
export const isUndone = (now: Millis): SQL =>
  sql`NOT (o.topic = ${OWN_WORK} AND o.state = 'pending' AND o.attempts = 0 AND o.created_at > ${now - WRITERS_MS})`
