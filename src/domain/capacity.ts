/** The part of the limit from which the server warns. */
const FROM = 0.8

/**
 * @param bytes of the database, and what it may hold; null where nobody tells
 * @returns a sentence for whoever operates it, from 80 % on; else null
 */
export function capacityWarning(bytes: number | null, limit: number | null): string | null {
  if (bytes === null || limit === null || bytes < limit * FROM) return null
  return (
    `The database holds ${Math.floor((bytes / limit) * 100)} % of the ${limit / 1e9} GB that it may: delete what is not needed, shorten ` +
    'HISTORY_DAYS, or move to PostgreSQL (commonplace copy)'
  )
}

/** Default of VECTOR_MEMORY_MB: what the vectors of all organizations together may take of the 128 MB of an isolate. */
export const VECTOR_MEMORY_MB = 80

/** Bytes that the vectors of one organization may take: two full objects may share an isolate. */
export const objectBytes = (memoryMb: number): number => (memoryMb * 1_000_000) / 2

const USE_VECTORIZE = 'Set VECTOR_BACKEND=vectorize to search all of them by meaning (docs/deploy.md#vectors)'

/**
 * @param leftOut entries whose vectors the index left out
 * @returns a warning for a search by meaning; null where none is left out
 */
export const leftOutWarning = (leftOut: number): string | null =>
  leftOut === 0
    ? null
    : `${leftOut} older memories are found by words only, since the vector index holds the newest. ${USE_VECTORIZE}`

/**
 * @param vectors of the organization that has the most, or of one organization
 * @param capacity vectors that a search compares
 * @returns a warning for the operator; null where all are compared
 */
export const vectorsWarning = (vectors: number, capacity: number): string | null =>
  vectors <= capacity
    ? null
    : `An organization has ${vectors} vectors; searches by meaning compare its newest ${capacity}. ${USE_VECTORIZE}`
