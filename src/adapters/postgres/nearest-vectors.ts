import { type SQL, sql } from 'drizzle-orm'
import { type QuantizedVector, toBase64 } from '../../domain/meaning/vector'
import type { VectorSpace } from '../../ports/vector-index'
import type { SqlDialect } from '../sql/dialect'

/** Up to this many vectors are compared one by one, which is exact; beyond, the HNSW index is asked. */
const FEW = 10_000

/** The nearest vectors of an org and model as a table with `id` and `cosine`, best first. */
export const nearestVectors =
  (few = FEW) =>
  ({ org, model }: Pick<VectorSpace, 'org' | 'model'>, query: QuantizedVector, limit: number): SQL =>
    sql`nearest_vectors(${org}, ${model}, ${toBase64(query)}, ${limit}, ${few})`

/** What a query with vectors needs of pgvector. */
export const POSTGRES_NEARNESS: NonNullable<SqlDialect['nearness']> = {
  cosine: (query) => sql`1 - coalesce(nullif(v.embedding <=> (SELECT embedding_of(${toBase64(query)})), 'NaN'), 1)`,
  nearestEntries: ({ org, owner, projects }, model, query, { layer, project, most, least }) => {
    const open = JSON.stringify(['', ...(projects ?? [])])
    const among = sql`(SELECT array_agg(value) FROM jsonb_array_elements_text(${open}::jsonb) AS given (value))`
    return sql`nearest_entries(
      ${org}, ${model}, ${toBase64(query)}, ${layer}, ${project}::text, ${owner}::text,
      ${projects === null ? sql`NULL` : among}, ${least}, ${most}, ${FEW}
    )`
  },
}
