import type { Clock } from '../../src/ports/clock'
import { d1Adapters, migrate } from './bindings'
import { postgresAdapters } from './bindings-postgres'
import { DATABASE } from './database'

/** The adapters of the database of this Vitest project, for tests in workerd. */
export const adaptersHere = (clock: Clock) => (DATABASE === 'd1' ? d1Adapters(clock) : postgresAdapters(clock))
/** Applies the migrations; PostgreSQL gets them from its template. */
export const migrateHere = DATABASE === 'd1' ? migrate : async () => {}
