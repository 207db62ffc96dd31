import { sql } from 'drizzle-orm'
import type { Database } from '../contracts/semantic-search'
import { postgresAdapters } from './bindings-postgres'
import { TestClock } from './scope'

export const onPgvector: Database = { adapters: (clock) => postgresAdapters(clock), prepare: async () => {} }

/** pgvector with an HNSW index, for files that test only this. */
export const onIndexedPgvector: Database = {
  ...onPgvector,
  prepare: async () => {
    const { connection } = postgresAdapters(new TestClock())
    await connection.batch([
      sql`INSERT INTO settings (name, value) SELECT 'test', create_vector_index(64)::text ON CONFLICT DO NOTHING`,
      // The first five vectors of an organization are compared exactly and the others are in the index, so each search
      // uses both.
      sql`CREATE OR REPLACE FUNCTION max_unindexed_vectors() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 0::bigint $$`,
    ])
    await connection.close()
  },
}
