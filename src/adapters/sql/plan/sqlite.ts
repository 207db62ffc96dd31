// How is SQLite brought to the way that is meant? By CROSS JOIN, which keeps the order that is written, and by naming an index.
import { sql } from 'drizzle-orm'
import type { Plan } from './plan'

export const SQLITE_PLAN: Plan = {
  follow: (table, alias, on) => sql`CROSS JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  followLeft: (table, alias, on) => sql`LEFT JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  oneOf: (query) => sql`IN (${query})`,
  beyond: ([known, value], column, number) => sql`${known} = ${value} AND ${column} > ${number}`,
  exists: (query) => sql`EXISTS (${query})`,
  rangeOf: (column, value) => sql`${column} = ${value}`,
  inOrder: (_, wanted) => wanted,
  aside: (condition) => condition,
  unordered: (expression) => sql`+${expression}`,
  illustratedEntries: sql`entries e INDEXED BY entries_with_images`,
  entriesOfProject: sql`entries e INDEXED BY entries_of_project`,
  entriesOfLayer: sql`entries e INDEXED BY entries_by_layer`,
  entriesBy: (index) => sql.raw(`entries e INDEXED BY ${index}`),
}
