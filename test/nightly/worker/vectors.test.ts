import { beforeAll, describe, expect, it } from 'vitest'
import { createSqlSettings } from '../../../src/adapters/sql/stores/maintenance/settings'
import { createObjectVectorIndex } from '../../../src/adapters/vector-object'
import { createVectorizeIndex } from '../../../src/adapters/vectorize'
import { composeServices } from '../../../src/composition/worker'
import { EVERYTHING } from '../../../src/domain/search/filter'
import { lateVectorize } from '../../contracts/late-vectorize'
import { newestVectorsContract } from '../../contracts/newest-vectors'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { FakeVectorize } from '../../fakes/vectorize'
import { bindings, config, d1Adapters, migrate } from '../../support/bindings'
import { freshPrincipal, TestClock } from '../../support/scope'
import { seeded } from '../../support/seeded'

beforeAll(migrate)

lateVectorize('Vectorize, late and out of order', 0, 1_500, true)
lateVectorize('Vectorize, losing a tenth of its updates, with 1,500 entries,', 0.1, 1_500, true)

semanticSearchContract('a Durable Object, among as many as production compares,', () => ({
  index: createObjectVectorIndex(bindings.VECTORS),
  elapse: () => {},
}))

newestVectorsContract(4)

const IMPORTED = 20_000
const BATCH = 500

describe('an import of 20,000 memories into a Vectorize that is 120 seconds late', () => {
  it('is found by meaning at every moment, and is sent once', { timeout: 600_000 }, async () => {
    const clock = new TestClock()
    const vectorize = new FakeVectorize(seeded(11))
    const index = createVectorizeIndex(vectorize, createSqlSettings(d1Adapters(clock).connection), clock)
    const services = composeServices(bindings, config, { log: () => {}, waitUntil: () => {}, index })
    const caller = { ...freshPrincipal(), action: 'store_context', tool: 'store_context' }
    // Words of which no two entries share all, so that exactly one entry is closest to its own text.
    const textOf = (i: number): string => `berth ${i * 7919} keeps cargo lot ${i * 104_729} dry`
    const missed = async (): Promise<string[]> => {
      const lost: string[] = []
      for (const i of [0, 1, 4_999, 9_999, 15_000, IMPORTED - 1]) {
        const query = textOf(i)
        const request = { query, filter: EVERYTHING, offset: 0, limit: 3, previewLength: 200, explain: false }
        const { results } = await services.rankedSearches.byMeaning(caller, request as never)
        if (!results.some(({ entry }) => 'text' in entry && String(entry.text).includes(query))) lost.push(query)
      }
      return lost
    }
    for (let from = 0; from < IMPORTED; from += BATCH) {
      const drafts = Array.from({ length: BATCH }, (_, i) => ({
        ok: true as const,
        value: { threadId: 'import', source: 'agent', text: textOf(from + i) } as const,
      }))
      await services.storeEntries(caller, drafts, { atomic: true, dedupe: false })
    }
    for (let second = 0; second < 120; second += 30) {
      expect([second, await missed()]).toEqual([second, []])
      await services.maintenance.work()
      clock.advance(30_000)
    }
    vectorize.process()
    for (let minute = 0; minute < 10; minute++) await services.maintenance.work()
    expect(await missed()).toEqual([])
    expect(vectorize.upserted).toBe(IMPORTED)
  })
})
