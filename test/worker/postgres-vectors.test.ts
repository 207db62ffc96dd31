// Does semantic search over PostgreSQL give exactly what comparing one by one gives, with and without the HNSW index?

import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createPostgresVectorIndex } from '../../src/adapters/postgres/vector-index'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { quantize, toBase64 } from '../../src/domain/meaning/vector'
import { type Database, semanticSearchContract } from '../contracts/semantic-search'
import { bindings } from '../support/bindings'
import { postgresAdapters } from '../support/bindings-postgres'
import { freshPrincipal, TestClock } from '../support/scope'

const elapse = () => {}
const database: Database = { adapters: (clock) => postgresAdapters(clock), prepare: async () => {} }
const indexed: Database = {
  ...database,
  prepare: async () => {
    const { connection } = postgresAdapters(new TestClock())
    await connection.batch([
      sql`INSERT INTO settings (name, value) SELECT 'test', index_vectors(64)::text ON CONFLICT DO NOTHING`,
      // The first five vectors of an org are compared one by one, the others are in the index: both ways in each search.
      sql`CREATE OR REPLACE FUNCTION compared_one_by_one() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 0::bigint $$`,
    ])
    await connection.close()
  },
}

semanticSearchContract(
  'pgvector, compared one by one,',
  (_, connection) => ({ index: createPostgresVectorIndex(connection), elapse }),
  database,
)

semanticSearchContract(
  'pgvector, by its HNSW index,',
  (_, connection) => ({ index: createPostgresVectorIndex(connection, { few: 0 }), elapse }),
  indexed,
)

semanticSearchContract(
  'a Durable Object beside PostgreSQL',
  () => ({ index: createObjectVectorIndex(bindings.VECTORS), elapse }),
  database,
)

describe('pgvector', () => {
  const add = async (model: string, ...vectors: readonly number[][]) => {
    const { connection } = postgresAdapters(new TestClock())
    const { org } = freshPrincipal()
    const rows = vectors.map((vector, chunk) => [chunk, toBase64(quantize(Float32Array.from(vector)))])
    await connection.batch([
      sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data) SELECT ${org},
        -1 - floor(random() * 1e15), ${model}, (value ->> 0)::int, 0, 1, value ->> 1
        FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) AS given (value)`,
    ])
    return { connection, org }
  }

  it('keeps models and sizes apart in one table', async () => {
    const { connection, org } = await add('m#3', [1, 0, 0], [0, 1, 0])
    const index = createPostgresVectorIndex(connection)
    const ask = (model: string, ...vector: number[]) =>
      index.search({ org, model, dimensions: vector.length }, quantize(Float32Array.from(vector)), 10)
    expect((await ask('m#3', 1, 0, 0)).hits.map(({ cosine }) => Math.round(cosine * 1e4) / 1e4)).toEqual([1, 0])
    expect((await ask('other#3', 1, 0, 0)).hits).toEqual([])
    expect((await ask('m#4', 1, 0, 0, 0)).hits).toEqual([])
    await connection.close()
  })

  it('takes 4,000 dimensions, by comparison and by the index', async () => {
    const unit = (at: number) => Array.from({ length: 4_000 }, (_, i) => (i === at ? 1 : 0.001))
    const { connection, org } = await add('large#4000', unit(1), unit(2), unit(3))
    for (const few of [10, 0]) {
      const index = createPostgresVectorIndex(connection, { few })
      const query = quantize(Float32Array.from(unit(2)))
      const { hits } = await index.search({ org, model: 'large#4000', dimensions: 4_000 }, query, 2)
      expect(hits).toHaveLength(2)
      expect(hits[0]?.cosine).toBeCloseTo(1, 4)
    }
    await connection.close()
  })

  it('holds a zero vector at right angles to everything', async () => {
    const { connection, org } = await add('zero#2', [0, 0], [1, 0], [-1, 0])
    const index = createPostgresVectorIndex(connection)
    const { hits } = await index.search({ org, model: 'zero#2', dimensions: 2 }, quantize(Float32Array.from([1, 0])), 9)
    expect(hits.map(({ cosine }) => cosine)).toEqual([1, 0, -1])
    await connection.close()
  })
})
