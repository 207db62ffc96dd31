import type { NameQuery } from '../domain/code/symbol-names'
import type { CodeSymbol, SymbolKind } from '../domain/code/symbols'
import type { Actor, Scope } from '../domain/identity/scope'

/** A file whose parts are ready to be stored. */
export interface PreparedFile {
  readonly path: string
  readonly language: string
  /** Hash of the content as it was sent. */
  readonly sha256: string
  readonly bytes: number
  /** Model of its vectors; empty when none are needed, null while they are pending. */
  readonly model: string | null
  readonly symbols: readonly CodeSymbol[]
  readonly chunks: readonly PreparedChunk[]
  /** Trigrams, as numbered by `domain/code/grams.ts`. */
  readonly grams: readonly number[]
}

export interface PreparedChunk {
  readonly lineStart: number
  readonly lineEnd: number
  readonly overlap: string
  readonly text: string
  /** Distinct terms of the analyzer; none where chunks are not searched by words. */
  readonly words: readonly string[]
  /** Number of content words. */
  readonly length: number
  /** As packed by `domain/meaning/vector.ts`; null while it is pending. */
  readonly vector: string | null
}

/** Totals of a project's code. */
export interface CodeTotals {
  readonly project: string
  readonly files: number
  readonly symbols: number
  readonly chunks: number
  readonly words: number
  /** Number of files with pending vectors. */
  readonly pending: number
  /** Milliseconds since 1970 of the last upload. */
  readonly lastIndexed: number | null
  /** Whether its files come from several roots. */
  readonly hasRoots: boolean
}

export interface CodeFile {
  readonly id: number
  readonly project: string
  readonly root: string
  readonly path: string
  readonly language: string
  readonly bytes: number
}

export interface FileState {
  readonly root: string
  readonly path: string
  readonly sha256: string
  readonly model: string | null
}

/** Files that a search covers; null: all. */
export interface CodeFilter {
  /** Null: every project of the scope. */
  readonly project: string | null
  readonly language: string | null
  readonly files: readonly number[] | null
}

export interface SymbolHit {
  readonly project: string
  readonly root: string
  readonly path: string
  readonly language: string
  readonly symbol: CodeSymbol
  readonly score: number
}

/** A chunk that contains a text. */
export interface TextHit {
  readonly chunkId: number
  readonly fileId: number
  readonly lineStart: number
  /** Number of occurrences. */
  readonly hits: number
  /** Whether it occurs at least once in the same case. */
  readonly exact: boolean
}

/** Packed vectors of consecutive chunks of one file. */
export interface VectorPack {
  readonly id: number
  readonly fileId: number
  /** Number of the first chunk. */
  readonly first: number
  /** One per line, as packed by `domain/meaning/vector.ts`. */
  readonly data: string
}

export interface StoredChunk {
  readonly id: number
  readonly fileId: number
  readonly n: number
  readonly project: string
  readonly root: string
  readonly path: string
  readonly language: string
  readonly lineStart: number
  readonly lineEnd: number
  readonly overlap: string
  readonly text: string
}

/** A file without vectors, and the texts to make them of; for maintenance. */
interface PendingFile {
  readonly id: number
  readonly org: string
  readonly path: string
  readonly symbols: readonly Pick<CodeSymbol, 'name' | 'lineStart' | 'lineEnd' | 'docComment'>[]
  readonly chunks: readonly Pick<StoredChunk, 'lineStart' | 'lineEnd' | 'overlap' | 'text'>[]
}

/**
 * The code of all organizations, by project. Every method reads and changes only what its scope may see; a project outside the scope has no
 * code.
 */
export interface CodeIndex {
  totals(scope: Scope, project: string | null): Promise<CodeTotals[]>
  /** Lists the files of a project in order of path; only those of a root, and of these paths in it, where they are given. */
  states(scope: Scope, project: string, root: string | null, paths?: readonly string[]): Promise<FileState[]>
  /**
   * Replaces files with the same paths and removes others, all or nothing, with its row in the audit log.
   *
   * @throws Problem limit_exceeded when the project would have too many files
   */
  replace(
    caller: Actor,
    project: string,
    change: {
      readonly root: string
      readonly files: readonly PreparedFile[]
      readonly deleted: readonly string[]
      /** Counts for the audit row; null when another row of the same call has them. */
      readonly detail: Readonly<Record<string, number>> | null
    },
  ): Promise<void>
  /** Removes at most this many files of a project, of one root where it is given. @returns how many files there were */
  remove(caller: Actor, project: string, root: string | null, limit: number): Promise<number>
  /** Removes a project that has no files, with its row in the audit log. */
  forget(caller: Actor, project: string, detail: Readonly<Record<string, number>>): Promise<void>

  files(scope: Scope, filter: CodeFilter): Promise<CodeFile[]>
  /** Finds symbols, best first, as `domain/code/symbol-names.ts` scores them; `total` counts up to the cap. */
  symbols(
    scope: Scope,
    filter: CodeFilter & { readonly kind: SymbolKind | null },
    query: NameQuery,
    limit: number,
    cap: number,
  ): Promise<{ readonly hits: readonly SymbolHit[]; readonly total: number }>
  /** Returns files of one project that may contain all of these trigrams, in order of path; all files for null. */
  filesWithGrams(
    scope: Scope,
    project: string,
    language: string | null,
    grams: readonly number[] | null,
  ): Promise<CodeFile[]>
  /**
   * Returns chunks of these files that contain each of the texts: a single text within a line, several texts anywhere.
   *
   * @param folded in lower case, as `foldCase` makes it; `exact` as given
   */
  chunksWith(
    scope: Scope,
    files: readonly number[],
    texts: readonly { readonly exact: string; readonly folded: string }[],
  ): Promise<TextHit[]>
  /** Returns the next vectors of the model after an id, in packs; at most `limit` vectors. */
  vectors(scope: Scope, filter: CodeFilter, model: string, afterId: number, limit: number): Promise<VectorPack[]>
  /**
   * Returns chunks of one project that contain any of the units, those with the most first; and the number of chunks with each unit.
   *
   * @param units each a list of adjacent terms
   */
  chunksWithWords(
    scope: Scope,
    project: string,
    units: readonly (readonly string[])[],
    files: readonly number[] | null,
    limit: number,
  ): Promise<{ readonly hits: readonly StoredChunk[]; readonly chunksWithUnit: readonly number[] }>
  /** Returns chunks by id, or by file and position, in no order; unknown ones are left out. */
  chunks(
    scope: Scope,
    wanted:
      | { readonly ids: readonly number[] }
      | { readonly places: readonly (readonly [fileId: number, n: number])[] },
  ): Promise<StoredChunk[]>

  /** Returns files with pending vectors, of any organization; for maintenance. */
  pending(limit: number): Promise<PendingFile[]>
  /** Stores the vectors of a file, unless it was deleted. */
  embed(file: Pick<PendingFile, 'id' | 'org'>, model: string, vectors: readonly string[]): Promise<void>
}
