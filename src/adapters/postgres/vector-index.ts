// How are the nearest vectors found in PostgreSQL? By pgvector, in the table that is the truth, so there is nothing to keep up. An index
// beside it, where there is one, is asked for what is near in one place: it compares ten thousand vectors twenty times as fast.
import { sql } from 'drizzle-orm'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'
import type { SqlConnection } from '../sql/connection'
import { nearestVectors } from './nearest-vectors'

const ALL = { addedUpTo: Number.MAX_SAFE_INTEGER, removedUpTo: Number.MAX_SAFE_INTEGER } as const

/** Numbers of all vectors of a space that an index beside is told of: half of what a Durable Object holds. */
const MOST_BESIDE = 40_000_000

type Beside = VectorIndex & { readonly forget: (space: VectorSpace) => Promise<void> }

/** @param beside knows where vectors stand; told of all, or of none where there are too many for it */
export const createPostgresVectorIndex = (
  connection: SqlConnection,
  { few, beside = null }: { readonly few?: number; readonly beside?: Beside | null } = {},
): VectorIndex => ({
  backend: 'pgvector',
  depth: Number.POSITIVE_INFINITY,
  // Its cosines are sums of 32-bit floats.
  approximate: true,
  placed: false,
  nearby:
    beside &&
    (async (...asked) => {
      const found = (await beside.nearby?.(...asked)) ?? null
      return found?.confirmedUpTo === 0 ? null : found
    }),

  async search(space, query, limit) {
    const [rows] = await connection.read([sql`SELECT id, cosine FROM ${nearestVectors(few)(space, query, limit)}`])
    const hits = (rows ?? []).map((row) => ({ id: Number(row.id), cosine: Number(row.cosine) }))
    return { hits, confirmedUpTo: ALL.addedUpTo, cut: hits.length >= limit }
  },

  apply: async (space, changes) => beside?.apply(space, changes),
  settle: async (space) => beside?.settle(space) ?? true,

  async state(space) {
    if (beside === null) return ALL
    const [rows] = await connection.read([sizeOf(space)])
    const vectors = Number(rows?.[0]?.vectors ?? 0)
    const known = await beside.state(space)
    if (vectors * space.dimensions <= MOST_BESIDE) return known
    if (known.addedUpTo > 0) await beside.forget(space)
    return ALL
  },
})

const sizeOf = ({ org, model }: VectorSpace) =>
  sql`SELECT s.vectors FROM vector_spaces s WHERE s.org = ${org} AND s.model = ${model}`
