import { type SQL, sql } from 'drizzle-orm'

/** The setting that holds the ID up to which pairs of memories were sought. */
const NAME = 'pairs sought up to'

export const soughtStatement = (): SQL => sql`SELECT value FROM settings WHERE name = ${NAME}`

/** @param from the value that the caller has read: another run, or an import, may have changed it; null for none */
export const noteSought = (from: number | null, upTo: number): SQL =>
  from === null
    ? sql`INSERT INTO settings (name, value) VALUES (${NAME}, ${String(upTo)}) ON CONFLICT (name) DO NOTHING`
    : sql`UPDATE settings SET value = ${String(upTo)} WHERE name = ${NAME} AND value = ${String(from)}`

/** Lets pairs be sought again from an ID on: an import stores entries under lower IDs than the newest. */
export const seekAgainFrom = (id: number): SQL =>
  sql`UPDATE settings SET value = ${String(id - 1)} WHERE name = ${NAME} AND CAST(value AS bigint) >= ${id}`
