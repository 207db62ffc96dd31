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

/** What one statement may go through where a database serves nobody meanwhile (platform contract §6), and what is done in parts there. */
export interface Bounded {
  /** Entries, to answer a filter. */
  readonly entries: number
  /** Bytes of metadata that are parsed, as far as nothing else is asked of them. */
  readonly metadata: number
  /**
   * A page whose filter asks for more.
   *
   * @returns ids of the page in its order, and how many entries match: in all, or as far as was counted
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

/** Metadata fields with an index of their own, and the type that their values are indexed as. */
export type IndexedFields = ReadonlyMap<string, FieldType>
export type FieldType = 'string' | 'integer' | 'boolean' | 'float' | 'array' | 'object'

/** Binds one value of a filter and gives the fragment that stands for it. */
export type Bind = (value: unknown) => SQL

/** Values of one statement, gathered so that a dialect with few parameters can pass them as one. */
export interface Bindings {
  readonly bind: Bind
  /** Table expressions the statement must begin with, after `WITH`; null for none. */
  readonly prelude: () => SQL | null
}

/**
 * One compiler for each leaf. A condition may be NULL where a metadata path is missing: the walker turns NULL into false
 * wherever that matters. The entry row is called `e`.
 */
export type PredicateCompilers = {
  readonly [Op in Predicate['op']]: (predicate: Extract<Predicate, { op: Op }>, bind: Bind) => SQL
}

/** What the search index is made of. */
export interface ToIndex {
  readonly org: string
  readonly content: IndexedContent
  readonly indexed: IndexedText
}

/** An entry as it was read to be indexed. */
export interface ReadToIndex extends ToIndex {
  readonly id: number
  readonly version: number
}

/** What a vector `v` is compared by: columns `data`, or `product` and `squares` with `data` where these would not be exact. */
export interface ComparedBy {
  readonly names: SQL
  readonly columns: SQL
  /** In the place of the columns, where they are not wanted. */
  readonly none: SQL
}

/** What one database spells differently from another. */
export interface IndexMerge {
  /** A row whose `state` is another one after a merge that did anything. */
  readonly state: SQL
  readonly merge: SQL
  /** What was removed leaves the index for good: begun once, and gone on with until nothing is done any more. */
  readonly forget: { readonly begin: SQL; readonly goOn: SQL }
}

export interface SqlDialect {
  /** How the planner is brought to what a statement means. */
  readonly plan: Plan
  /** Whose terms stand in the search index. */
  readonly analyzer: Analyzer
  readonly predicates: PredicateCompilers
  readonly bindings: () => Bindings
  /** A condition that is never NULL. */
  readonly falseWhenNull: (condition: SQL) => SQL
  /** The id of a row to be: the one that is known, or a new one when that is NULL. */
  readonly entryId: (known: SQL) => SQL
  /** How ids are given to entries that are to come, in one batch: raised above those that are kept, asked for by place, then passed. */
  readonly entryIds: {
    readonly raise: (to: number) => SQL[]
    readonly fresh: (place: SQL) => SQL
    readonly pass: (count: number) => SQL[]
  }
  /** Id of an entry of the org that this batch wrote, unless that write made a later version than named; else NULL. */
  readonly lastWritten: (org: string, which: { readonly before: number; readonly upToVersion: number }) => SQL
  /** Whether statements of the same text cost less when they follow each other. */
  readonly likeTogether: boolean
  /** Whether each row that is written counts for itself, so that many are better counted together (`counted-later.ts`). */
  readonly countsRows: boolean
  /** What one statement may go through where nobody is served meanwhile; null where any number may be asked. */
  readonly bounded: Bounded | null
  /** What an index of a metadata field knows of a predicate, of more entries than fulfil it; null where it leads to none. */
  readonly knownToIndex: (predicate: Extract<Predicate, { op: 'equals' }>, bind: Bind) => SQL | null
  /** The same of one value of a field of strings, newest first by its index: just those that fulfil it where case does not count. */
  readonly listedByIndex: (predicate: Extract<Predicate, { op: 'equals' }>, bind: Bind) => SQL | null
  /** Whether the columns of a row cost less as one JSON text (packed.ts). */
  readonly packsRows: boolean
  /** `IN` or its like, with the strings of a JSON array: what an index on the value is asked for. */
  readonly among: (json: SQL) => SQL
  /** The rows of a JSON array of strings given as text, in a column `value`. */
  readonly jsonRows: (json: SQL) => SQL
  /** The column `value` of a query as a JSON array in a text; `[]` for no rows. */
  readonly jsonList: (rows: SQL) => SQL
  /** The strings of two JSON arrays in one, each once, ordered by their bytes. */
  readonly joinedStrings: (one: SQL, other: SQL) => SQL
  /** As `jsonRows`, of an array of whole numbers. */
  readonly jsonNumbers: (json: SQL) => SQL
  /** The rows of a JSON array of arrays, in columns of these names and types. */
  readonly jsonTable: (json: SQL, columns: Readonly<Record<string, 'text' | 'integer'>>) => SQL
  /** Gathers values of the rows, at most 32 of each, into a JSON array of arrays, `[]` when there are none. */
  readonly jsonArrays: (values: readonly SQL[]) => SQL
  /** Values of one row, at most 32, as a JSON array in a text. */
  readonly jsonRow: (values: readonly SQL[]) => SQL
  /** Whether a JSON text holds an object with one of these keys; false for NULL. */
  readonly hasAnyKey: (json: SQL, keys: readonly string[]) => SQL
  /** A JSON merge patch (RFC 7396) of two JSON texts. */
  readonly mergePatch: (target: SQL, patch: SQL) => SQL
  /**
   * The metadata `given` of what stands in the entry `id`, which the statement changes, or these where both say the same and only the
   * order of keys differs: what is told of a change compares texts. Either may be NULL. What it gives is as long as what is given.
   *
   * @param given and `id` name no row of the statement around them
   */
  readonly asWritten: (id: SQL, given: (was: SQL) => SQL) => SQL
  /** A query of the beginning that is kept of a long text, by its org and hash; null where a text is cut without being read whole. */
  readonly beginning: ((org: SQL, hash: SQL) => SQL) | null
  readonly byteLength: (text: SQL) => SQL
  /** Characters of a text from a place on (from 0), which has so many in all. */
  readonly slice: (text: SQL, chars: SQL, from: SQL, length: SQL) => SQL
  /** Whether a text holds another, compared by its characters. */
  readonly contains: (text: SQL, part: SQL) => SQL
  /** The place of a part in a text, from 1 in characters; 0 when it is not there. */
  readonly position: (text: SQL, part: SQL) => SQL
  /** Writes the search terms of the entry that `row` names (a condition on `e`). */
  readonly indexEntry: (entry: ToIndex, row: SQL) => SQL
  /** Writes the search terms of those of many entries that still stand at their versions; as few statements as hold them. */
  readonly indexEntries: (entries: readonly ReadToIndex[]) => SQL[]
  /** Takes away the search terms of the entry with this id. */
  readonly unindexEntry: (id: number) => SQL
  /** Behind the number of the analysis, what is raised when this database's index holds something else of the same words. */
  readonly indexForm: string
  /** Puts parts of the index of words together, a bounded share at a time; null where the index has none. */
  readonly mergeIndex: IndexMerge | null
  /** A string in the metadata of `e`, by the names of members; NULL where there is none. */
  readonly textAt: (path: readonly string[]) => SQL
  /** As `textAt`, of a whole number. */
  readonly numberAt: (name: string) => SQL
  /** For a database that compares vectors itself; null where an index beside it has to be asked. */
  readonly nearness: {
    /** Of a query and the row `v` of `entry_vectors`. */
    readonly cosine: (query: QuantizedVector) => SQL
    /** The exact sums that the cosine is made of; null where they are not exact. */
    readonly numbers: (query: QuantizedVector) => ComparedBy | null
    /** The nearest entries of a part of what the scope sees, as a table with `entry_id` and `cosine`, best first. */
    readonly nearestEntries: (
      scope: Scope,
      model: string,
      query: QuantizedVector,
      layer: Layer,
      part: Pick<SimilarRequest, 'most' | 'least' | 'project'>,
    ) => SQL
  } | null
  /** The search index of code. */
  readonly code: CodeSpelling
}
