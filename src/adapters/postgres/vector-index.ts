// Finds similar vectors with PostgreSQL: by the auxiliary index, if there is one that knows nearly all vectors, because it is faster;
// otherwise by pgvector in the table itself, which needs no synchronization.

import { type SQL, sql } from 'drizzle-orm'
import { type QuantizedVector, squaresOf, toBase64 } from '../../domain/meaning/vector'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'
import { readOne } from '../sql/core/batch'
import type { SqlConnection } from '../sql/core/connection'
import type { SqlDialect } from '../sql/core/dialect'
import { countOf, each, num } from '../sql/core/rows'

/** Up to this many vectors are compared exactly; for more, the HNSW index is used. */
const COMPARED_EXACTLY = 10_000

/** Returns the most similar vectors of an organization and model, as a table with `id` and `cosine`, best first. */
const closestVectors =
  (few = COMPARED_EXACTLY) =>
  ({ org, model }: Pick<VectorSpace, 'org' | 'model'>, query: QuantizedVector, limit: number): SQL =>
    sql`nearest_vectors(${org}, ${model}, ${toBase64(query)}, ${limit}, ${few})`

/**
 * pgvector sums products as 32-bit floats, and all products of the quantized numbers are whole. Floats represent every whole number up to
 * here, and no partial sum exceeds the larger squared length, so that sums below it are exact in any order.
 */
const EXACT_SUM = 2 ** 24

/**
 * The pgvector functions that a query needs, by their names in the schema of the store: the operators may be in another schema.
 */
export const POSTGRES_SIMILARITY: NonNullable<SqlDialect['similarity']> = {
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
  similarEntries: ({ org, owner, projects }, model, query, layer, { project, most, least }) => {
    const open = JSON.stringify(['', ...(projects ?? [])])
    const among = sql`(SELECT array_agg(value) FROM jsonb_array_elements_text(${open}::jsonb) AS given (value))`
    return sql`nearest_entries(
      ${org}, ${model}, ${toBase64(query)}, ${layer}, ${project}::text, ${owner}::text,
      ${projects === null ? sql`NULL` : among}, ${least}, ${most}, ${COMPARED_EXACTLY}
    )`
  },
}

const ALL = { addedUpTo: Number.MAX_SAFE_INTEGER, removedUpTo: Number.MAX_SAFE_INTEGER } as const

/** Newest vectors that the auxiliary index may lack: a search compares these with its result. */
const MAX_UNCONFIRMED = 200
/** Searches of a space that use pgvector immediately after the auxiliary index lacked too many vectors. */
const SKIPPED_SEARCHES = 50
/** Maximum number of spaces that an isolate remembers. */
const MOST_SPACES = 1_000
const withoutBeside = new Map<string, number>()

/** Returns whether to query the auxiliary index now. */
function shouldQuery(space: string): boolean {
  const left = withoutBeside.get(space) ?? 0
  if (left > 1) withoutBeside.set(space, left - 1)
  else withoutBeside.delete(space)
  return left === 0
}

function askLater(space: string): void {
  if (withoutBeside.size >= MOST_SPACES) withoutBeside.clear()
  withoutBeside.set(space, SKIPPED_SEARCHES)
}

type AuxiliaryIndex = VectorIndex & { readonly forget: (space: VectorSpace) => Promise<void> }

/**
 * Creates the vector index. @param auxiliary an index of vector IDs; it has all vectors of a space, or none when there are too many
 */
export const createPostgresVectorIndex = (
  connection: SqlConnection,
  { few, auxiliary = null }: { readonly few?: number; readonly auxiliary?: AuxiliaryIndex | null } = {},
): VectorIndex => ({
  backend: 'pgvector',
  depth: Number.POSITIVE_INFINITY,
  // Its cosines are sums of 32-bit floats.
  approximate: true,
  placed: false,
  capacity: () => Number.POSITIVE_INFINITY,
  leftOut: () => 0,
  nearby:
    auxiliary &&
    (async (...asked) => {
      const found = (await auxiliary.nearby?.(...asked)) ?? null
      return found?.confirmedUpTo === 0 ? null : found
    }),

  async search(space, query, limit, region) {
    const key = `${space.org}\n${space.model}`
    if (auxiliary !== null && shouldQuery(key)) {
      const [found, due] = await Promise.all([
        auxiliary.search(space, query, limit, region).catch(() => null),
        readOne(connection, dueOf(space), countOf('due')),
      ])
      if (found !== null && found.confirmedUpTo >= due) return { ...found, isExact: true }
      askLater(key)
    }
    const hits = await readOne(
      connection,
      sql`SELECT id, cosine FROM ${closestVectors(few)(space, query, limit)}`,
      each((row) => ({ id: num(row, 'id'), cosine: num(row, 'cosine') })),
    )
    return { hits, confirmedUpTo: ALL.addedUpTo, cut: hits.length >= limit }
  },

  apply: async (space, changes) => auxiliary?.apply(space, changes),
  settle: async (space) => auxiliary?.settle(space) ?? true,

  async state(space) {
    if (auxiliary === null) return ALL
    const vectors = await readOne(connection, sizeOf(space), countOf('vectors'))
    const known = await auxiliary.state(space)
    if (vectors <= auxiliary.capacity(space.dimensions)) return known
    if (known.addedUpTo > 0) await auxiliary.forget(space)
    return ALL
  },
})

const sizeOf = ({ org, model }: VectorSpace) =>
  sql`SELECT s.vectors FROM vector_spaces s WHERE s.org = ${org} AND s.model = ${model}`

/** Returns the newest vector that an index must have. */
const dueOf = ({ org, model }: VectorSpace) =>
  sql`SELECT v.id AS due FROM entry_vectors v WHERE v.org BETWEEN ${org} AND ${org} AND v.model BETWEEN ${model} AND ${model}
    ORDER BY v.org DESC, v.model DESC, v.id DESC LIMIT 1 OFFSET ${MAX_UNCONFIRMED}`
