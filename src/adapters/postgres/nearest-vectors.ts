import { type SQL, sql } from 'drizzle-orm'
import { type QuantizedVector, toBase64 } from '../../domain/vector'
import type { VectorSpace } from '../../ports/vector-index'

/** Up to this many vectors of an org are compared one by one, which is exact; beyond, the HNSW index is asked. */
const FEW = 10_000

/** The nearest vectors of an org and model as a table with `id` and `cosine`, best first. */
export const nearestVectors =
  (few = FEW) =>
  ({ org, model }: Pick<VectorSpace, 'org' | 'model'>, query: QuantizedVector, limit: number): SQL =>
    sql`nearest_vectors(${org}, ${model}, ${toBase64(query)}, ${limit}, ${few})`
