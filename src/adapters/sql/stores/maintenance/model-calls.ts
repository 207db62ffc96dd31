import { sql } from 'drizzle-orm'
import { DAY_MS } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { ModelCalls } from '../../../../ports/model-calls'
import { Batch } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { howMany } from '../../core/rows'

/** Creates the counter of language model calls over any SQL connection. Rows of earlier days are deleted. */
export const createSqlModelCalls = (connection: SqlConnection, clock: Clock, perDay: number): ModelCalls => ({
  async take() {
    const today = Math.floor(clock.now() / DAY_MS)
    const batch = new Batch(sql`DELETE FROM model_calls WHERE day < ${today}`)
    const counted = batch.add(
      sql`INSERT INTO model_calls AS m (day, calls) VALUES (${today}, 1)
        ON CONFLICT (day) DO UPDATE SET calls = m.calls + 1 WHERE m.calls < ${perDay}
        RETURNING day`,
      howMany,
    )
    return (await batch.run(connection)).of(counted) === 1
  },
})
