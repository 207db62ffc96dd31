/** What one D1 database may hold on the Paid plan; it cannot be raised. */
export const D1_LIMIT = 10_000_000_000
/** Of the limit, from where on it is said. */
const FROM = 0.8

/**
 * @param bytes of the database; null where nobody tells
 * @returns a sentence for whoever operates it, from 80 % on; else null
 */
export function capacityWarning(bytes: number | null): string | null {
  if (bytes === null || bytes < D1_LIMIT * FROM) return null
  return (
    `The database holds ${Math.floor((bytes / D1_LIMIT) * 100)} % of the 10 GB that D1 takes: delete what is not needed, shorten ` +
    'HISTORY_DAYS, or move to PostgreSQL (commonplace copy)'
  )
}

/** Of the 128 MB that an isolate has, what vectors may take by themselves (VECTOR_MEMORY_MB): two full objects. */
export const VECTOR_MEMORY_MB = 80
