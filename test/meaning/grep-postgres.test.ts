import { grepMeans } from '../contracts/grep'
import { postgresAdapters } from '../support/bindings-postgres'
import { TestClock } from '../support/scope'

grepMeans('PostgreSQL', () => postgresAdapters(new TestClock()))
