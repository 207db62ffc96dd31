import type { SQL } from 'drizzle-orm'

/** Where a project's terms begin, in both forms in which an index keeps them. */
interface CodeScope {
  readonly org: string
  readonly project: string
}

/** Files of one root of a project. */
export interface CodeRoot extends CodeScope {
  /** Folder or repository that paths count from; empty where none is named. */
  readonly root: string
}

/** What databases spell differently where code is indexed and searched. */
export interface CodeSpelling {
  /** Place of a part in a text, from 1; 0 when it is not there. */
  readonly position: (text: SQL, part: SQL) => SQL
  /** The text with the letters A–Z in lower case. */
  readonly lower: (text: SQL) => SQL
  /** Whether two paths are equal, in the form that finds a file by its index. */
  readonly samePath: (column: SQL, path: SQL) => SQL
  /** Writes the runs of files of these paths, which the batch has just stored. */
  readonly insertGrams: (scope: CodeRoot, files: readonly (readonly [path: string, grams: readonly number[]])[]) => SQL
  /** Writes the words of chunks, by path and place in the file. */
  readonly insertWords: (
    scope: CodeRoot,
    chunks: readonly (readonly [path: string, n: number, words: readonly string[]])[],
  ) => SQL
  /** A query with a column `id`: files that hold all of the runs. */
  readonly filesWith: (scope: CodeScope, grams: readonly number[]) => SQL
  /** A query with columns `unit` (place in the list, from 0) and `id`: chunks that hold all terms of the unit. */
  readonly chunksWith: (scope: CodeScope, units: readonly (readonly string[])[]) => SQL
}
