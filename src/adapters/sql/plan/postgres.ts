// How is PostgreSQL brought to the way that is meant? By OFFSET 0, through which no planner looks, and by comparisons that its index knows.
import { sql } from 'drizzle-orm'
import type { Plan } from './plan'

export const POSTGRES_PLAN: Plan = {
  follow: (table, alias, on) =>
    sql`CROSS JOIN LATERAL (SELECT * FROM ${sql.raw(`${table} ${alias}`)} WHERE ${on} OFFSET 0) AS ${sql.raw(alias)}`,
  followLeft: (table, alias, on) =>
    sql`LEFT JOIN LATERAL (SELECT * FROM ${sql.raw(`${table} ${alias}`)} WHERE ${on} OFFSET 0) AS ${sql.raw(alias)} ON true`,
  oneOf: (query) => sql`= ANY (ARRAY(${query}))`,
  // Each ends by itself, which its index leads to; no planner is asked whether it would merge them.
  firstOf: (queries, alias, ending) => {
    const ended = queries.map((query, i) => sql`SELECT * FROM (${query} ${ending}) AS ${sql.raw(`${alias}_${i}`)}`)
    return sql`SELECT * FROM (${sql.join(ended, sql` UNION ALL `)}) AS ${sql.raw(alias)} ${ending}`
  },
  // As one query of all values, since the planner takes as long for each part of a union as for a query of its own.
  forEach: (values, alias, queries, ending) => {
    const [each, rows] = [sql.raw(`each_${alias}`), sql.raw(alias)]
    const from = sql`jsonb_array_elements_text(${JSON.stringify(values)}::jsonb) AS ${each} (value)`
    const firstOfEach = queries.map((query) => {
      const first = sql`(${query(sql`${each}.value`)} ${ending})`
      return sql`SELECT ${rows}.* FROM ${from} CROSS JOIN LATERAL ${first} AS ${rows}`
    })
    return sql.join(firstOfEach, sql` UNION ALL `)
  },
  // Beside an equality of the first, an index would be read from its beginning.
  beyond: ([known, value], column, number) =>
    sql`(${known}, ${column}) > (${value}, ${number}) AND ${known} <= ${value}`,
  exists: (query) => sql`EXISTS (${query} OFFSET 0)`,
  rangeOf: (column, value) => sql`${column} BETWEEN ${value} AND ${value}`,
  inOrder: (column, wanted) => sql`${column}, ${wanted}`,
  asListed: (place) => sql`ORDER BY ${place}`,
  filterOnly: (condition) => sql`(${condition}) IS TRUE`,
  unordered: (expression) => expression,
  illustratedEntries: sql`entries e`,
  entriesOfProject: sql`entries e`,
  entriesOfLayer: sql`entries e`,
  tableBy: (table) => sql.raw(table),
  entriesBy: (_, led) => (led ? sql`(SELECT * FROM entries e WHERE ${led} OFFSET 0) AS e` : sql`entries e`),
}
