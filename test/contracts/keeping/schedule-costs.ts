import { beforeEach, describe, expect, it } from 'vitest'
import { createSqlVectorRows } from '../../../src/adapters/sql/stores/search/vector-rows'
import { createSchedule } from '../../../src/services/maintenance/schedule'
import { scheduleSteps } from '../../../src/services/maintenance/steps'
import { bindings, d1Adapters, resetCosts } from '../../support/bindings'
import { TestClock } from '../../support/scope'
import { keepingWorld } from './world'

/** @param many entries and changes, which a full scan would read */
export function scheduleCostContract(many: number): void {
  describe('what the schedule costs in D1', () => {
    const clock = new TestClock()
    const made = d1Adapters(clock)
    const world = keepingWorld({ connection: made.connection, bucket: bindings.IMAGES, clock })
    const steps = scheduleSteps({
      ...world,
      work: world.clean,
      generation: null,
      embedCode: async () => 0,
      changesDays: 30,
      auditDays: 365,
    })
    const { run } = createSchedule({ steps, journal: world.journal, clock, log: () => {} })
    const cost = async (call: () => Promise<unknown>) => {
      resetCosts(made.costs)
      await call()
      return { ...made.costs }
    }

    /** Entries that never expire, retained changes, removed vectors that indexes have not processed. */
    const fill = (from: number, to: number) =>
      bindings.DB.batch([
        bindings.DB.prepare(
          `WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
           INSERT INTO changes (org, seq, entry_id, action, version, at)
             SELECT 'o', i + 1 + (SELECT coalesce(max(seq), 0) FROM changes WHERE org = 'o'), i, 'store', 1, ?3 FROM n`,
        ).bind(from, to - 1, clock.ms),
        bindings.DB.prepare(
          `WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
           INSERT INTO vector_removals (org, id, vector_id) SELECT 'o', i, i FROM n`,
        ).bind(from, to - 1),
        bindings.DB.prepare(
          `WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
           INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, created_by, text_hash, bytes, text_words, text)
           SELECT 'o', 't', 'user', 2, ?3, ?3, 'key-1', 'h' || i, 1, 1, 'x' FROM n`,
        ).bind(from, to - 1, clock.ms),
      ])

    beforeEach(world.empty)

    it('does not grow with retained data', async () => {
      // An index of words holds what other tests have deleted until its parts are one.
      await bindings.DB.exec("INSERT INTO entries_fts (entries_fts) VALUES ('optimize')")
      await fill(0, 1_000)
      for (let i = 0; i < 3; i++) await run()
      const few = await cost(run)
      await fill(1_000, many)
      expect(await cost(run)).toEqual(few)
      // A look or two of each step, at the journal and at what may be due.
      expect(few.rowsRead).toBeLessThan(4 * steps.length)
      // A day later every step looks again, and still reads no more than a bounded part.
      clock.advance(24 * 3_600_000)
      expect((await cost(run)).rowsRead).toBeLessThan(200)
    })

    it('removes a thousand old changes for a few rows each, not for all there are', async () => {
      await fill(0, many)
      clock.advance(40 * 24 * 3_600_000)
      const { rowsRead } = await cost(() => world.retention.forgetChanges(clock.ms - 1, 1_000))
      expect(rowsRead).toBeLessThan(6_000)
    })

    it('checks every entry once in a pass for missing vectors, however many are missing', async () => {
      await fill(0, many)
      const rows = createSqlVectorRows(made.connection, clock)
      let [after, missing, read]: [number | null, number, number] = [0, 0, 0]
      while (after !== null) {
        const from: number = after
        const step = await cost(async () => {
          const stretch = await rows.unembedded(null, 'model#1', from, 500)
          missing += stretch.missing.length
          after = stretch.last
        })
        expect(step.rowsRead).toBeLessThan(2_600)
        read += step.rowsRead
      }
      expect(missing).toBe(await bindings.DB.prepare('SELECT count(*) AS n FROM entries').first('n'))
      expect(read).toBeLessThan(many * 5)
    })
  })
}
