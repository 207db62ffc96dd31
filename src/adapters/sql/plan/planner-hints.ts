// How is a database coaxed into the way that a statement means? Nothing here changes an answer: only what is walked for it.
import type { SQL } from 'drizzle-orm'

/** Hints to a planner, in the words of each database; `plans-postgres` and the counts of rows judge them. */
export interface Plan {
  /**
   * Joins the rows of a table, looked up one by one for each row at the left, where a planner would begin elsewhere: it may
   * know nothing of how many rows there are.
   */
  readonly follow: (table: string, alias: string, on: SQL) => SQL
  /** As `follow`, with a row of NULLs where there is none. */
  readonly followLeft: (table: string, alias: string, on: SQL) => SQL
  /** `IN` for the one column of a query, which is asked first: what it finds leads to the rows, and never the other way round. */
  readonly oneOf: (query: SQL) => SQL
  /**
   * The first rows of several queries together: each is walked in the order of an index, and no further than it has to be. Names are
   * given after `alias`.
   *
   * @param ending `ORDER BY` of columns that the queries have, and `LIMIT`
   */
  readonly firstOf: (queries: readonly SQL[], alias: string, ending: SQL) => SQL
  /** As `firstOf`, of each query with each of these values, so that an index leads to those of each. More rows than its limit may come. */
  readonly forEach: (
    values: readonly string[],
    alias: string,
    queries: readonly ((value: SQL) => SQL)[],
    ending: SQL,
  ) => SQL
  /**
   * Rows with this value of a column whose next column is greater, in the order of both (name both in `ORDER BY`): by the index that has
   * the two, and not by one of the numbers alone, which stand there for all.
   */
  readonly beyond: (known: readonly [column: SQL, value: SQL], column: SQL, number: SQL) => SQL
  /** `EXISTS`, asked for each row at hand: a planner that makes a join of it would begin with what is asked for. */
  readonly exists: (query: SQL) => SQL
  /**
   * Rows with this value of a column, wanted in the order of this column and of the next one of an index (`inOrder`): a planner that
   * knows one value only would walk an index of the next one alone, and all other values with it.
   */
  readonly rangeOf: (column: SQL, value: SQL) => SQL
  /** What rows of `rangeOf` are ordered by: its column as the index has it, and what is wanted. */
  readonly inOrder: (column: SQL, wanted: SQL) => SQL
  /** Rows that a list of JSON leads to (`jsonTable`, then `follow`), in the order of that list, so that a `LIMIT` ends the walk. */
  readonly asListed: (place: SQL) => SQL
  /** A condition on rows to which another one leads, so that no index is chosen for it: a planner may find both equally good. */
  readonly filterOnly: (condition: SQL) => SQL
  /** A column or condition that no index is to be chosen for, because a more selective one should be. */
  readonly unordered: (expression: SQL) => SQL
  /** `entries e` by way of those with images, which are few. */
  readonly illustratedEntries: SQL
  /** `entries e` by way of the project and the layer that the conditions name; a planner may begin with the layer of the whole org. */
  readonly entriesOfProject: SQL
  /** `entries e` by way of the layer that the conditions name. */
  readonly entriesOfLayer: SQL
  /**
   * `entries e` by way of this index, which the conditions ask for.
   *
   * @param led those of the conditions that the index answers, which a database asks first that cannot be told an index
   */
  readonly entriesBy: (index: string, led?: SQL) => SQL
  /** A table to be changed by way of this index, which the conditions ask for, where its primary key leads to more. */
  readonly tableBy: (table: string, index: string) => SQL
}
