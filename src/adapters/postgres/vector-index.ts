// How are the nearest vectors found in PostgreSQL? By pgvector, in the table that is the truth, so there is nothing to keep up.
import { sql } from 'drizzle-orm'
import { toBase64 } from '../../domain/vector'
import type { VectorIndex } from '../../ports/vector-index'
import type { SqlConnection } from '../sql/connection'

/** Up to this many vectors of an org are compared one by one, which is exact; beyond, the HNSW index is asked. */
const FEW = 10_000
const ALL = Number.MAX_SAFE_INTEGER

export const createPostgresVectorIndex = (connection: SqlConnection, few = FEW): VectorIndex => ({
  backend: 'pgvector',
  depth: Number.POSITIVE_INFINITY,
  // Its cosines are sums of 32-bit floats.
  approximate: true,

  async search({ org, model }, query, limit) {
    const [rows] = await connection.read([
      sql`SELECT id, cosine FROM nearest_vectors(${org}, ${model}, ${toBase64(query)}, ${limit}, ${few})`,
    ])
    const hits = (rows ?? []).map((row) => ({ id: Number(row.id), cosine: Number(row.cosine) }))
    return { hits, confirmedUpTo: ALL, cut: hits.length >= limit }
  },

  async apply() {},
  settle: async () => true,
  state: async () => ({ addedUpTo: ALL, removedUpTo: ALL }),
})
