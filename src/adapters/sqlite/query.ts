import type { SQL } from 'drizzle-orm'
import { render } from '../sql/core/render'

/** After this a number stands as it is: SQLite looks at it to plan, and so would compile a cached statement anew at every call. */
const LIMITS = /\bLIMIT $/

/**
 * A statement as SQLite takes it. Each value once, however often it stands in it: the database reads and checks each of them, and D1 takes
 * 100 a statement.
 */
export function toQuery(statement: SQL): { sql: string; params: unknown[] } {
  const places = new Map<unknown, string>()
  const sql = render(statement, (value, before) => {
    if (Number.isSafeInteger(value) && LIMITS.test(before)) return String(value)
    const place = places.get(value) ?? `?${places.size + 1}`
    places.set(value, place)
    return place
  })
  return { sql, params: [...places.keys()] }
}
