// How are the nearest vectors found in PostgreSQL? By pgvector, in the table that is the truth, so there is nothing to keep up.
import { sql } from 'drizzle-orm'
import type { VectorIndex } from '../../ports/vector-index'
import type { SqlConnection } from '../sql/connection'
import { nearestVectors } from './nearest-vectors'

const ALL = Number.MAX_SAFE_INTEGER

export const createPostgresVectorIndex = (connection: SqlConnection, few?: number): VectorIndex => ({
  backend: 'pgvector',
  depth: Number.POSITIVE_INFINITY,
  // Its cosines are sums of 32-bit floats.
  approximate: true,
  nearby: null,

  async search(space, query, limit) {
    const [rows] = await connection.read([sql`SELECT id, cosine FROM ${nearestVectors(few)(space, query, limit)}`])
    const hits = (rows ?? []).map((row) => ({ id: Number(row.id), cosine: Number(row.cosine) }))
    return { hits, confirmedUpTo: ALL, cut: hits.length >= limit }
  },

  async apply() {},
  settle: async () => true,
  state: async () => ({ addedUpTo: ALL, removedUpTo: ALL }),
})
