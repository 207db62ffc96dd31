import type { SQL } from 'drizzle-orm'
import type { Layer } from '../../../domain/entry/entry'
import type { IndexedContent } from '../../../domain/entry/entry-write'
import type { Scope } from '../../../domain/identity/scope'
import type { QuantizedVector } from '../../../domain/meaning/vector'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter, Predicate } from '../../../domain/search/filter'
import type { IndexedText } from '../../../domain/search/indexed-text'
import type { Window } from '../../../domain/search/window'
import type { Millis } from '../../../domain/time'
import type { SimilarRequest } from '../../../ports/vector-index'
import type { Plan } from '../plan/planner-hints'

/** Project whose code is indexed; its terms have a prefix of both. */
interface CodeScope {
  readonly org: string
  readonly project: string
}

/** Files of one root of a project. */
export interface CodeRoot extends CodeScope {
  /** Folder or repository that paths are relative to; empty for none. */
  readonly root: string
}

/** Expressions of the code index that differ between databases. */
export interface CodeSpelling {
  /** Returns the position of a part in a text, from 1; 0 when it is missing. */
  readonly position: (text: SQL, part: SQL) => SQL
  /** Returns the text with the letters A–Z in lower case. */
  readonly lower: (text: SQL) => SQL
  /** Returns whether two paths are equal, in the form that finds a file by its index. */
  readonly samePath: (column: SQL, path: SQL) => SQL
  /** Writes the trigrams of files at these paths, which the batch has just stored. */
  readonly insertGrams: (scope: CodeRoot, files: readonly (readonly [path: string, grams: readonly number[]])[]) => SQL
  /** Writes the words of chunks, by path and position in the file. */
  readonly insertWords: (
    scope: CodeRoot,
    chunks: readonly (readonly [path: string, n: number, words: readonly string[]])[],
  ) => SQL
  /** Returns a query with a column `id`: files that contain all of the trigrams. */
  readonly filesWith: (scope: CodeScope, grams: readonly number[]) => SQL
  /**
   * Returns a query with columns `unit` (index in the list, from 0) and `id`: chunks that contain all terms of the unit.
   */
  readonly chunksWith: (scope: CodeScope, units: readonly (readonly string[])[]) => SQL
}

/**
 * Limits of one statement on a database that runs one statement at a time (platform contract §6), and the page that is read in parts.
 */
export interface Bounded {
  /** Maximum number of entries that a filter checks. */
  readonly entries: number
  /** Bytes of metadata that are parsed, if the statement does nothing else with them. */
  readonly metadata: number
  /**
   * Reads a page whose filter exceeds the limits, in parts.
   *
   * @returns IDs of the page in its order, and the number of matching entries: exact, or as far as counted
   */
  readonly page: (
    read: <T>(statement: SQL, decode: (rows: readonly Record<string, unknown>[]) => T) => Promise<T>,
    context: {
      readonly dialect: SqlDialect
      readonly scope: Scope
      readonly now: Millis
      readonly indexedFields: IndexedFields
    },
    filter: Filter,
    window: Window,
  ) => Promise<{ ids: number[]; total: number; isExact: boolean }>
}

/** Metadata fields with an index of their own, and the type of their indexed values. */
export type IndexedFields = ReadonlyMap<string, FieldType>
export type FieldType = 'string' | 'integer' | 'boolean' | 'float' | 'array' | 'object'

/** Binds one value of a filter and returns its placeholder. */
export type Bind = (value: unknown) => SQL

/** The values of one statement, collected so that a dialect with few parameters can pass them as one. */
export interface Bindings {
  readonly bind: Bind
  /** Table expressions with which the statement must begin, after `WITH`; null for none. */
  readonly prelude: () => SQL | null
}

/**
 * One compiler for each operator. A condition may be NULL if a metadata path is missing: `compileFilter` turns NULL into false where
 * needed. The entry row is named `e`.
 */
export type PredicateCompilers = {
  readonly [Op in Predicate['op']]: (predicate: Extract<Predicate, { op: Op }>, bind: Bind) => SQL
}

/** Content of an entry for the search index. */
export interface ToIndex {
  readonly org: string
  readonly content: IndexedContent
  readonly indexed: IndexedText
}

/** An entry that was read to be indexed. */
export interface ReadToIndex extends ToIndex {
  readonly id: number
  readonly version: number
}

/** Columns to compare a vector `v` by: `data`, or `product` and `squares`, with `data` if these would not be exact. */
export interface ComparedBy {
  readonly names: SQL
  readonly columns: SQL
  /** The columns as NULL, for rows without them. */
  readonly none: SQL
}

/** Statements that merge the segments of a search index. */
export interface IndexMerge {
  /** Returns a row whose `state` changes with every merge that did something. */
  readonly state: SQL
  readonly merge: SQL
  /** Removes deleted terms from the index permanently: `begin` once, then `goOn` until nothing changes. */
  readonly forget: { readonly begin: SQL; readonly goOn: SQL }
}

export interface SqlDialect {
  /** Hints that make the planner use the intended indexes. */
  readonly plan: Plan
  /** Analyzer of the terms in the search index. */
  readonly analyzer: Analyzer
  readonly predicates: PredicateCompilers
  readonly bindings: () => Bindings
  /** Turns NULL into false. */
  readonly falseWhenNull: (condition: SQL) => SQL
  /** Returns the ID of a new row: the known one, or a new one when that is NULL. */
  readonly entryId: (known: SQL) => SQL
  /**
   * Assigns IDs to the new entries of one batch: `raise` above retained ones, `fresh` for each by position, `pass` at the end.
   */
  readonly entryIds: {
    readonly raise: (to: number) => SQL[]
    readonly fresh: (place: SQL) => SQL
    readonly pass: (count: number) => SQL[]
  }
  /**
   * Returns the ID of an entry of the organization that this batch wrote, unless the write made a later version than given; otherwise NULL.
   */
  readonly lastWritten: (org: string, which: { readonly before: number; readonly upToVersion: number }) => SQL
  /** Whether statements with the same text cost less when they follow each other. */
  readonly likeTogether: boolean
  /** Whether every written row is billed, so that counters are better updated together. */
  readonly countsRows: boolean
  /** Limits of one statement; null for a database that serves others meanwhile. */
  readonly bounded: Bounded | null
  /**
   * Returns the part of a predicate that an index of a metadata field answers, for a superset of the matches; null without an index.
   */
  readonly knownToIndex: (predicate: Extract<Predicate, { op: 'equals' }>, bind: Bind) => SQL | null
  /** Returns the same for a value of a string field, newest first by its index, exact if case does not matter. */
  readonly listedByIndex: (predicate: Extract<Predicate, { op: 'equals' }>, bind: Bind) => SQL | null
  /** Whether to return all rows of a query as one JSON text, which the driver converts faster (`inOneValue`). */
  readonly packsResults: boolean
  /** Whether to return the columns of a row as one JSON text, which costs less (`packedColumns`). */
  readonly packsRows: boolean
  /** Returns `IN` with the strings of a JSON array, in the form that uses an index. */
  readonly inList: (json: SQL) => SQL
  /** Returns the rows of a JSON array of strings, given as text, in a column `value`. */
  readonly jsonRows: (json: SQL) => SQL
  /** Returns the column `value` of a query as a JSON array in a text; `[]` without rows. */
  readonly jsonList: (rows: SQL) => SQL
  /** Returns the union of two JSON arrays of strings, ordered by their bytes. */
  readonly joinedStrings: (one: SQL, other: SQL) => SQL
  /** Returns the rows of a JSON array of whole numbers, in a column `value`. */
  readonly jsonNumbers: (json: SQL) => SQL
  /** Returns the rows of a JSON array of arrays, in columns of these names and types. */
  readonly jsonTable: (json: SQL, columns: Readonly<Record<string, 'text' | 'integer'>>) => SQL
  /** Aggregates values of the rows, at most 32 of each, into a JSON array of arrays; `[]` without rows. */
  readonly jsonArrays: (values: readonly SQL[]) => SQL
  /** Returns values of one row, at most 32, as a JSON array in a text. */
  readonly jsonRow: (values: readonly SQL[]) => SQL
  /** Returns whether a JSON text is an object with one of these keys; false for NULL. */
  readonly hasAnyKey: (json: SQL, keys: readonly string[]) => SQL
  /** Returns the JSON merge patch (RFC 7396) of two JSON texts. */
  readonly mergePatch: (target: SQL, patch: SQL) => SQL
  /**
   * Returns the new metadata of the entry `id`, or its present ones if they differ only in the order of keys, since changes are found by
   * comparing
   * texts. Either may be NULL. The statement changes that entry.
   *
   * @param given returns the new metadata; it and `id` must not refer to a row of the surrounding statement
   */
  readonly asWritten: (id: SQL, given: (was: SQL) => SQL) => SQL
  /**
   * Returns a query of the stored preview of a long text, by organization and hash; null if the database can cut a text without reading all
   * of it.
   */
  readonly preview: ((org: SQL, hash: SQL) => SQL) | null
  readonly byteLength: (text: SQL) => SQL
  /** Returns a range of characters of a text, from a position (from 0); `chars` is the length of the text. */
  readonly slice: (text: SQL, chars: SQL, from: SQL, length: SQL) => SQL
  /** Returns whether a text contains another, compared by characters. */
  readonly contains: (text: SQL, part: SQL) => SQL
  /** Returns the position of a part in a text, from 1 in characters; 0 when it is missing. */
  readonly position: (text: SQL, part: SQL) => SQL
  /** Writes the search terms of the entry that `row` selects (a condition on `e`). */
  readonly indexEntry: (entry: ToIndex, row: SQL) => SQL
  /** Writes the search terms of those entries that still have the version read, in as few statements as possible. */
  readonly indexEntries: (entries: readonly ReadToIndex[]) => SQL[]
  /** Deletes the search terms of the entry with this ID. */
  readonly unindexEntry: (id: number) => SQL
  /** Suffix of the analysis version; raise it when this database's index stores the same words differently. */
  readonly indexForm: string
  /** Merges segments of the search index in bounded steps; null for an index without segments. */
  readonly mergeIndex: IndexMerge | null
  /** Returns a string in the metadata of `e` by its path; NULL when it is missing. */
  readonly textAt: (path: readonly string[]) => SQL
  /** Returns a whole number in the metadata of `e` by its name. */
  readonly numberAt: (name: string) => SQL
  /** Vector comparison in the database; null if the database needs an auxiliary index. */
  readonly similarity: {
    /** Returns the cosine of a query and the row `v` of `entry_vectors`. */
    readonly cosine: (query: QuantizedVector) => SQL
    /** Returns the exact sums of the cosine; null if they are not exact. */
    readonly numbers: (query: QuantizedVector) => ComparedBy | null
    /** Returns the most similar entries of a part of the scope, as a table with `entry_id` and `cosine`, best first. */
    readonly similarEntries: (
      scope: Scope,
      model: string,
      query: QuantizedVector,
      layer: Layer,
      part: Pick<SimilarRequest, 'most' | 'least' | 'project'>,
    ) => SQL
  } | null
  /** Expressions of the code index. */
  readonly code: CodeSpelling
}
