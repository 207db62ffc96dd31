import { type SQL, sql } from 'drizzle-orm'
import { type QuantizedVector, squaresOf, toBase64 } from '../../domain/meaning/vector'
import type { VectorSpace } from '../../ports/vector-index'
import type { SqlDialect } from '../sql/core/dialect'

/** Up to this many vectors are compared one by one, which is exact; beyond, the HNSW index is asked. */
const COMPARED_EXACTLY = 10_000

/** The nearest vectors of an org and model as a table with `id` and `cosine`, best first. */
export const nearestVectors =
  (few = COMPARED_EXACTLY) =>
  ({ org, model }: Pick<VectorSpace, 'org' | 'model'>, query: QuantizedVector, limit: number): SQL =>
    sql`nearest_vectors(${org}, ${model}, ${toBase64(query)}, ${limit}, ${few})`

/**
 * pgvector adds up products as 32-bit floats, and all products of our numbers are whole. Up to here floats hold every whole number, and
 * no part of a sum is larger than the longer of both vectors is in squares: so what is below was added up exactly, in any order.
 */
const EXACT_SUM = 2 ** 24

/** The parts of pgvector that a query needs, by functions of the own schema: its operators may be in another. */
export const POSTGRES_NEARNESS: NonNullable<SqlDialect['nearness']> = {
  cosine: (query) =>
    sql`1 - coalesce(nullif(cosine_distance_of(v.embedding, (SELECT to_embedding(${toBase64(query)}))), 'NaN'), 1)`,
  numbers: (query) => {
    if (squaresOf(query) >= EXACT_SUM) return null
    const given = sql`to_halfvec(${`[${query.values.join(',')}]`})`
    const squares = sql`inner_product_of(v.embedding, v.embedding)`
    return {
      names: sql`product, squares, data`,
      columns: sql`inner_product_of(v.embedding, ${given}) AS product, ${squares} AS squares,
        CASE WHEN ${squares} >= ${EXACT_SUM} THEN v.data END AS data`,
      none: sql`NULL::double precision AS product, NULL::double precision AS squares, NULL::text AS data`,
    }
  },
  nearestEntries: ({ org, owner, projects }, model, query, layer, { project, most, least }) => {
    const open = JSON.stringify(['', ...(projects ?? [])])
    const among = sql`(SELECT array_agg(value) FROM jsonb_array_elements_text(${open}::jsonb) AS given (value))`
    return sql`nearest_entries(
      ${org}, ${model}, ${toBase64(query)}, ${layer}, ${project}::text, ${owner}::text,
      ${projects === null ? sql`NULL` : among}, ${least}, ${most}, ${COMPARED_EXACTLY}
    )`
  },
}
