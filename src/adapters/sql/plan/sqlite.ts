// How is SQLite brought to the way that is meant? By CROSS JOIN, which keeps the order that is written, and by naming an index.
import { type SQL, sql } from 'drizzle-orm'
import type { Plan } from './plan'

/** How many parts of a compound query are put together at once: D1 takes five. */
const TOGETHER = 4

const united = (parts: readonly SQL[], alias: string): SQL =>
  parts.length <= TOGETHER
    ? sql.join([...parts], sql` UNION ALL `)
    : united(
        Array.from({ length: Math.ceil(parts.length / TOGETHER) }, (_, i) => {
          const group = united(parts.slice(i * TOGETHER, (i + 1) * TOGETHER), alias)
          return sql`SELECT * FROM (${group}) AS ${sql.raw(`${alias}_group_${i}`)}`
        }),
        alias,
      )

export const SQLITE_PLAN: Plan = {
  follow: (table, alias, on) => sql`CROSS JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  followLeft: (table, alias, on) => sql`LEFT JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  oneOf: (query) => sql`IN (${query})`,
  forEach: (values, alias, query) =>
    united(
      values.map((value, i) => sql`SELECT * FROM (${query(sql`${value}`)}) AS ${sql.raw(`${alias}_${i}`)}`),
      alias,
    ),
  beyond: ([known, value], column, number) => sql`${known} = ${value} AND ${column} > ${number}`,
  exists: (query) => sql`EXISTS (${query})`,
  rangeOf: (column, value) => sql`${column} = ${value}`,
  inOrder: (_, wanted) => wanted,
  // What leads is gone through as it stands; an ORDER BY would have all of it sorted.
  asListed: () => sql``,
  filterOnly: (condition) => condition,
  unordered: (expression) => sql`+${expression}`,
  illustratedEntries: sql`entries e INDEXED BY entries_with_images`,
  entriesOfProject: sql`entries e INDEXED BY entries_of_project`,
  entriesOfLayer: sql`entries e INDEXED BY entries_by_layer`,
  entriesBy: (index) => sql.raw(`entries e INDEXED BY ${index}`),
  tableBy: (table, index) => sql.raw(`${table} INDEXED BY ${index}`),
}
