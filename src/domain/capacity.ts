/** Fraction of the limit from which the server warns. */
const FROM = 0.8

/**
 * A warning for the operator when the database is 80 % full, else null.
 * @param bytes size of the database, null if unknown
 * @param limit maximum size, null if unknown
 */
export function capacityWarning(bytes: number | null, limit: number | null): string | null {
  if (bytes === null || limit === null || bytes < limit * FROM) return null
  return (
    `The database uses ${Math.floor((bytes / limit) * 100)} % of its limit of ${limit / 1e9} GB. Delete entries that are not needed, reduce ` +
    'HISTORY_DAYS, or move to PostgreSQL (commonplace copy)'
  )
}

/** Default of VECTOR_MEMORY_MB: memory for the vectors of all organizations, of the 128 MB of an isolate. */
export const VECTOR_MEMORY_MB = 80

/** Bytes for the vectors of one organization: two full objects can share an isolate. */
export const objectBytes = (memoryMb: number): number => (memoryMb * 1_000_000) / 2

const USE_VECTORIZE = 'Set VECTOR_BACKEND=vectorize to search all of them by meaning (docs/deploy.md#vectors)'

/**
 * The warning of a semantic search that did not compare all vectors; null otherwise.
 * @param leftOut entries whose vectors are not in the index
 */
export const leftOutWarning = (leftOut: number): string | null =>
  leftOut === 0
    ? null
    : `${leftOut} older memories are found by words only, since the vector index holds the newest. ${USE_VECTORIZE}`

/**
 * The warning for an operator when an organization has more vectors than a search compares; null otherwise.
 * @param vectors vectors of one organization, or of the one with the most
 * @param capacity vectors that a search compares
 */
export const vectorsWarning = (vectors: number, capacity: number): string | null =>
  vectors <= capacity
    ? null
    : `An organization has ${vectors} vectors; searches by meaning compare its newest ${capacity}. ${USE_VECTORIZE}`
