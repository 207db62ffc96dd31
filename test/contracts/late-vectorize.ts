import { createSqlSettings } from '../../src/adapters/sql/stores/maintenance/settings'
import { createVectorizeIndex } from '../../src/adapters/vectorize'
import { FakeVectorize } from '../fakes/vectorize'
import { d1Adapters } from '../support/bindings'
import { seeded } from '../support/seeded'
import { semanticSearchContract } from './semantic-search'

/**
 * Searches by meaning over a Vectorize that is late, out of order, and loses a fraction of its updates.
 *
 * @param crowd other entries that any filter must handle
 * @param portions whether to look up thousands of hits too
 */
export const lateVectorize = (name: string, dropShare: number, crowd: number, portions: boolean): void => {
  const make: Parameters<typeof semanticSearchContract>[1] = (clock) => {
    const random = seeded(7)
    const binding = new FakeVectorize(random, dropShare)
    const index = createVectorizeIndex(binding, createSqlSettings(d1Adapters(clock).connection), clock)
    return {
      crowd,
      index,
      elapse: () => {
        binding.process(0.7)
        clock.advance(60_000)
      },
    }
  }
  semanticSearchContract(name, make, undefined, portions)
}
