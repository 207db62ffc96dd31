import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, countOf, json, num, str } from '../../core/rows'
import type { ReadContext } from '../entries/read-statements'

/**
 * What is counted by name (threads, tags), gone through in the order of names, so many rows of counters at a time with rests between,
 * on a database that serves nobody while a statement goes on (platform contract §6).
 */

/** Names behind one and up to another, as a condition on a column. */
export type Between = (column: SQL) => SQL

export interface Groups {
  readonly table: 'thread_counters' | 'tag_counters'
  readonly name: 'thread_id' | 'tag'
  /** Tables, and a query of one row a name, of those between or of all. */
  readonly of: (between?: Between) => { readonly tables: readonly SQL[]; readonly query: SQL }
  /** Columns of these rows. */
  readonly columns: readonly string[]
  /** How these rows are ordered, and the same of two of them. */
  readonly order: SQL
  readonly compare: (a: Row, b: Row) => number
}

/** Every text is less than this. */
const AFTER_ALL = sql`x'ff'`

/** The first names behind those that are skipped, each with how many there are as `names`, in one statement. */
function wholeStatement(groups: Groups, most: number, skipped: number): SQL {
  const { tables, query } = groups.of()
  return sql`WITH ${sql.join([...tables], sql`, `)}
    SELECT named.*, count(*) OVER () AS names FROM (${query}) AS named ORDER BY ${groups.order} LIMIT ${most} OFFSET ${skipped}`
}

/** The same of the next rows of counters: one row with `names`, `first` (JSON) and `until`, the last name gone through, or NULL. */
function partStatement(
  { scope }: Pick<ReadContext, 'scope'>,
  groups: Groups,
  after: string,
  { walked, most }: Extent,
): SQL {
  const [table, name] = [sql.raw(groups.table), sql.raw(`c.${groups.name}`)]
  const until = sql`until AS MATERIALIZED (
    SELECT ${name} AS name FROM ${table} c WHERE c.org = ${scope.org} AND ${name} > ${after}
    ORDER BY ${name} LIMIT 1 OFFSET ${walked - 1})`
  const { tables, query } = groups.of(
    (column) => sql`${column} > ${after} AND ${column} <= coalesce((SELECT name FROM until), ${AFTER_ALL})`,
  )
  const columns = sql.raw(groups.columns.join(', '))
  return sql`WITH ${sql.join([until, ...tables], sql`, `)}, named AS (${query})
    SELECT (SELECT count(*) FROM named) AS names, (SELECT name FROM until) AS until, (
      SELECT json_group_array(json_array(${columns})) FROM (SELECT * FROM named ORDER BY ${groups.order} LIMIT ${most})
    ) AS first`
}

interface Extent {
  /** Rows of counters that one statement goes through. */
  readonly walked: number
  /** Names to bring. */
  readonly most: number
}

/**
 * What `groupsOf` begins with, which may stand in a batch with others.
 *
 * @param skipped how many of the first are left out; only where the names are not gone through in parts
 */
export const groupsStatement = (
  context: Omit<ReadContext, 'indexedFields'>,
  groups: Groups,
  most: number,
  skipped = 0,
): SQL => {
  const { walked } = context.dialect
  return walked === null ? wholeStatement(groups, most, skipped) : partStatement(context, groups, '', { walked, most })
}

/** How many names there are in all. */
export const namesOf = countOf('names')

/**
 * @param begun what `groupsStatement` has found
 * @returns how many names there are, and the first; further round trips where the counters are more than one statement goes through
 */
export async function groupsOf(
  connection: SqlConnection,
  pace: Pace,
  context: Omit<ReadContext, 'indexedFields'>,
  groups: Groups,
  { most, begun }: { readonly most: number; readonly begun: readonly Row[] },
): Promise<{ count: number; first: readonly Row[] }> {
  const { walked } = context.dialect
  if (walked === null) return { count: namesOf(begun), first: begun }
  let first: Row[] = []
  let names = 0
  for (let rows = begun; ; ) {
    const [row = {}] = rows
    names += num(row, 'names')
    const found = json<unknown[][]>(row, 'first').map((values) =>
      Object.fromEntries(groups.columns.map((column, i) => [column, values[i]])),
    )
    first = first.length === 0 ? found : [...first, ...found].sort(groups.compare).slice(0, most)
    if (row.until === null) return { count: names, first }
    await pace.rest()
    rows = await readOne(connection, partStatement(context, groups, str(row, 'until'), { walked, most }), asRows)
  }
}
