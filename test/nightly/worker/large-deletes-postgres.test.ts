import { afterAll } from 'vitest'
import { largeDeletesContract } from '../../contracts/large-deletes'
import { postgresAdapters } from '../../support/bindings-postgres'
import { TestClock } from '../../support/scope'

// A connection of workerd belongs to the test that opened it.
const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(opened.map((connection) => connection.close()))
})

largeDeletesContract('PostgreSQL', () => {
  const clock = new TestClock()
  const made = postgresAdapters(clock)
  opened.push(made.connection)
  return { ...made, clock }
})
