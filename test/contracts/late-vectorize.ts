import { createSqlSettings } from '../../src/adapters/sql/stores/keeping/settings'
import { createVectorizeIndex } from '../../src/adapters/vectorize'
import { FakeVectorize } from '../fakes/vectorize'
import { d1Adapters } from '../support/bindings'
import { seeded } from '../support/seeded'
import { semanticSearchContract } from './semantic-search'

/** Searches by meaning over a Vectorize that is late, out of order, and loses a share of what it is told. */
export const lateVectorize = (name: string, dropShare: number): void =>
  semanticSearchContract(name, (clock) => {
    const random = seeded(7)
    const binding = new FakeVectorize(random, dropShare)
    const index = createVectorizeIndex(binding, createSqlSettings(d1Adapters(clock).connection), clock)
    return {
      // In test/nightly a Durable Object is asked among as many as production compares.
      crowd: 1_500,
      index,
      elapse: () => {
        binding.process(0.7)
        clock.advance(60_000)
      },
    }
  })
