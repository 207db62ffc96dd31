import { afterAll } from 'vitest'
import { createPostgresVectorIndex } from '../../../src/adapters/postgres/vector-index'
import { foundAfterDeathContract } from '../../contracts/found-after-death'
import { longTextsContract } from '../../contracts/long-texts'
import { lostAnswersContract } from '../../contracts/lost-answers'
import { packCostsContract } from '../../contracts/pack-costs'
import { recallContract } from '../../contracts/recall'
import { summarizeContract } from '../../contracts/summarize'
import { textsAheadContract } from '../../contracts/texts-ahead'
import { bindings } from '../../support/bindings'
import { postgresAdapters } from '../../support/bindings-postgres'
import { TestClock } from '../../support/scope'

// A connection of workerd belongs to the test that opened it.
const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(opened.map((connection) => connection.close()))
})

const make = () => {
  const clock = new TestClock()
  const made = postgresAdapters(clock)
  opened.push(made.connection)
  return { ...made, clock }
}

lostAnswersContract('PostgreSQL', () => ({ vars: { STORAGE_BACKEND: 'postgresql' }, bindings }))

foundAfterDeathContract('PostgreSQL', () => ({ vars: { STORAGE_BACKEND: 'postgresql' }, bindings }))

summarizeContract('PostgreSQL', () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
})

packCostsContract('PostgreSQL', () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
})

recallContract('PostgreSQL', () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
})

longTextsContract('PostgreSQL', () => make())

textsAheadContract('PostgreSQL', () => make())
