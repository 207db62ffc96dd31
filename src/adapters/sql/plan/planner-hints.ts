// Hints for the planner of each database. They never change a result, only the rows that are read.
import type { SQL } from 'drizzle-orm'

/** The hints, implemented by each dialect; tests of plans and row counts check them. */
export interface Plan {
  /**
   * Joins the rows of a table by looking them up for each row on the left, if a planner without statistics would start elsewhere.
   */
  readonly follow: (table: string, alias: string, on: SQL) => SQL
  /** Returns `follow` as a left join. */
  readonly followLeft: (table: string, alias: string, on: SQL) => SQL
  /**
   * Returns `IN` for a query with one column that is evaluated first: its result selects the rows, never the reverse.
   */
  readonly oneOf: (query: SQL) => SQL
  /**
   * Returns the first rows of several queries together: each reads an index in order, only as far as needed. Names are given after `alias`.
   *
   * @param ending `ORDER BY` of columns that the queries have, and `LIMIT`
   */
  readonly firstOf: (queries: readonly SQL[], alias: string, ending: SQL) => SQL
  /**
   * Returns `firstOf` for each query with each of these values, so that an index finds the rows of each. There may be more rows than its
   * limit.
   */
  readonly forEach: (
    values: readonly string[],
    alias: string,
    queries: readonly ((value: SQL) => SQL)[],
    ending: SQL,
  ) => SQL
  /**
   * Returns rows with this value of a column and a greater value of the next column, ordered by both (`ORDER BY` must include both): uses
   * the index of both columns, not one of the number alone.
   */
  readonly beyond: (known: readonly [column: SQL, value: SQL], column: SQL, number: SQL) => SQL
  /** Returns `EXISTS`, evaluated for each row: a planner that turns it into a join would start with the subquery. */
  readonly exists: (query: SQL) => SQL
  /**
   * Returns rows with this value of a column, ordered by this column and the next one of an index (`inOrder`): a planner that sees one
   * value only would scan an index of the next column alone, with all other values.
   */
  readonly rangeOf: (column: SQL, value: SQL) => SQL
  /** Returns the order of the rows of `rangeOf`: the column of the index, then the requested order. */
  readonly inOrder: (column: SQL, wanted: SQL) => SQL
  /**
   * Returns the order of rows found by a JSON list (`jsonTable`, then `follow`): that of the list, so that a `LIMIT` ends the scan.
   */
  readonly asListed: (place: SQL) => SQL
  /**
   * Returns a condition for which no index is chosen, on rows that were already found: a planner may find both equally good.
   */
  readonly filterOnly: (condition: SQL) => SQL
  /** Returns a column or condition for which no index is chosen, because a more selective one should be. */
  readonly unordered: (expression: SQL) => SQL
  /** `entries e`, by the index of entries with images, which are few. */
  readonly illustratedEntries: SQL
  /**
   * `entries e`, by the index of project and layer; a planner may start with the layer of the complete organization.
   */
  readonly entriesOfProject: SQL
  /** `entries e`, by the index of the layer. */
  readonly entriesOfLayer: SQL
  /**
   * Returns `entries e`, by this index, whose columns the conditions restrict.
   *
   * @param led conditions that the index answers, evaluated first by a database without index hints
   */
  readonly entriesBy: (index: string, led?: SQL) => SQL
  /**
   * Returns a table to be changed by this index, whose columns the conditions restrict, if its primary key finds more rows.
   */
  readonly tableBy: (table: string, index: string) => SQL
}
