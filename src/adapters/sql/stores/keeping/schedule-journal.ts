import { sql } from 'drizzle-orm'
import type { ScheduleJournal, StepState } from '../../../../ports/schedule-journal'
import type { Row, SqlConnection } from '../../core/connection'

const toState = (row: Row): StepState => ({
  cursor: row.cursor as string | null,
  finishedAt: row.finished_at === null ? null : Number(row.finished_at),
  failures: Number(row.failures),
  lastError: row.last_error as string | null,
})

/** The journal of the schedule over any SQL connection. */
export const createSqlScheduleJournal = (connection: SqlConnection): ScheduleJournal => ({
  async read() {
    const [rows] = await connection.batch([sql`SELECT step, cursor, finished_at, failures, last_error FROM schedule`])
    return new Map((rows ?? []).map((row) => [row.step as string, toState(row)]))
  },

  async write(step, { cursor, finishedAt, failures, lastError }) {
    await connection.batch([
      sql`
        INSERT INTO schedule (step, cursor, finished_at, failures, last_error)
        VALUES (${step}, ${cursor}, ${finishedAt}, ${failures}, ${lastError})
        ON CONFLICT (step) DO UPDATE SET
          cursor = excluded.cursor, finished_at = excluded.finished_at,
          failures = excluded.failures, last_error = excluded.last_error`,
    ])
  },
})
