import { filtersMean } from '../../contracts/filters'
import { postgresAdapters } from '../../support/bindings-postgres'

filtersMean('PostgreSQL', (clock) => postgresAdapters(clock), 25)
