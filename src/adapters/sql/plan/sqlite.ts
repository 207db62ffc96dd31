// How is SQLite brought to the way that is meant? By CROSS JOIN, which keeps the order that is written, and by naming an index.
import { sql } from 'drizzle-orm'
import type { Plan } from './plan'

/** How many parts of a compound query are put together at once: D1 takes five. */
const TOGETHER = 4

/** Queries of one compound are merged as they are read, where an index has each in the order of the whole. */
const firstOf: Plan['firstOf'] = (queries, alias, ending) =>
  queries.length <= TOGETHER
    ? sql`${sql.join([...queries], sql` UNION ALL `)} ${ending}`
    : firstOf(
        Array.from({ length: Math.ceil(queries.length / TOGETHER) }, (_, i) => {
          const group = firstOf(queries.slice(i * TOGETHER, (i + 1) * TOGETHER), alias, ending)
          return sql`SELECT * FROM (${group}) AS ${sql.raw(`${alias}_group_${i}`)}`
        }),
        alias,
        ending,
      )

export const SQLITE_PLAN: Plan = {
  follow: (table, alias, on) => sql`CROSS JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  followLeft: (table, alias, on) => sql`LEFT JOIN ${sql.raw(`${table} ${alias}`)} ON ${on}`,
  oneOf: (query) => sql`IN (${query})`,
  firstOf,
  forEach: (values, alias, queries, ending) =>
    firstOf(
      queries.flatMap((query) => values.map((value) => query(sql`${value}`))),
      alias,
      ending,
    ),
  beyond: ([known, value], column, number) => sql`${known} = ${value} AND ${column} > ${number}`,
  exists: (query) => sql`EXISTS (${query})`,
  rangeOf: (column, value) => sql`${column} = ${value}`,
  inOrder: (_, wanted) => wanted,
  // What leads is gone through as it stands; an ORDER BY would have all of it sorted.
  asListed: () => sql``,
  filterOnly: (condition) => condition,
  unordered: (expression) => sql`+${expression}`,
  illustratedEntries: sql`entries e INDEXED BY entries_images_idx`,
  entriesOfProject: sql`entries e INDEXED BY entries_project_layer_created_idx`,
  entriesOfLayer: sql`entries e INDEXED BY entries_layer_created_idx`,
  entriesBy: (index) => sql.raw(`entries e INDEXED BY ${index}`),
  tableBy: (table, index) => sql.raw(`${table} INDEXED BY ${index}`),
}
