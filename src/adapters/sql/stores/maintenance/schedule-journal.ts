import { sql } from 'drizzle-orm'
import type { ScheduleJournal, StepState } from '../../../../ports/retention'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { num, numOrNull, str, strOrNull } from '../../core/rows'

const toState = (row: Row): StepState => ({
  cursor: strOrNull(row, 'cursor'),
  finishedAt: numOrNull(row, 'finished_at'),
  failures: num(row, 'failures'),
  lastError: strOrNull(row, 'last_error'),
})

/** Creates the journal of the schedule over any SQL connection. */
export const createSqlScheduleJournal = (connection: SqlConnection): ScheduleJournal => ({
  async read() {
    return runOne(
      connection,
      sql`SELECT step, cursor, finished_at, failures, last_error FROM schedule`,
      (rows) => new Map(rows.map((row) => [str(row, 'step'), toState(row)])),
    )
  },

  async write(step, { cursor, finishedAt, failures, lastError }) {
    await new Batch(
      sql`
        INSERT INTO schedule (step, cursor, finished_at, failures, last_error)
        VALUES (${step}, ${cursor}, ${finishedAt}, ${failures}, ${lastError})
        ON CONFLICT (step) DO UPDATE SET
          cursor = excluded.cursor, finished_at = excluded.finished_at,
          failures = excluded.failures, last_error = excluded.last_error`,
    ).run(connection)
  },
})
