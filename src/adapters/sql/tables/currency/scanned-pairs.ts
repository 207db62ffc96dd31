import { type SQL, sql } from 'drizzle-orm'

/** Setting with the ID up to which pairs of memories were searched. */
const NAME = 'pairs sought up to'

export const scannedStatement = (): SQL => sql`SELECT value FROM settings WHERE name = ${NAME}`

/**
 * Stores the new ID, unless another run or an import changed it. @param from the value that the caller has read; null for none
 */
export const recordScanned = (from: number | null, upTo: number): SQL =>
  from === null
    ? sql`INSERT INTO settings (name, value) VALUES (${NAME}, ${String(upTo)}) ON CONFLICT (name) DO NOTHING`
    : sql`UPDATE settings SET value = ${String(upTo)} WHERE name = ${NAME} AND value = ${String(from)}`

/** Repeats the search of pairs from an ID on, after an import has stored entries under lower IDs than the newest. */
export const rescanFrom = (id: number): SQL =>
  sql`UPDATE settings SET value = ${String(id - 1)} WHERE name = ${NAME} AND CAST(value AS bigint) >= ${id}`
