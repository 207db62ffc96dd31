import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { Batch } from '../../../src/adapters/sql/core/batch'
import { createSqlModelCalls } from '../../../src/adapters/sql/stores/maintenance/model-calls'
import { DAY_MS } from '../../../src/domain/time'
import type { Ground } from './world'

export function modelCallsContract(name: string, make: () => Promise<Ground>): void {
  describe(`calls of a model on ${name}`, () => {
    it('allows the daily number to all isolates together, and again on the next day', async () => {
      const { connection, clock } = await make()
      await new Batch(sql`DELETE FROM model_calls`).run(connection)
      const isolates = [createSqlModelCalls(connection, clock, 3), createSqlModelCalls(connection, clock, 3)]
      const take = (times: number) => Promise.all(Array.from({ length: times }, (_, i) => isolates[i % 2]?.take()))
      expect((await take(5)).filter(Boolean)).toHaveLength(3)
      expect(await take(2)).toEqual([false, false])
      clock.advance(DAY_MS)
      expect((await take(4)).filter(Boolean)).toHaveLength(3)
    })
  })
}
