import type { NameQuery } from '../domain/code/names'
import type { CodeSymbol, SymbolKind } from '../domain/code/symbols'
import type { Actor, Scope } from '../domain/identity/scope'

/** A file whose parts are ready to be stored. */
export interface PreparedFile {
  readonly path: string
  readonly language: string
  /** Of the content as it was sent. */
  readonly sha256: string
  readonly bytes: number
  /** Of its vectors; empty when none are wanted, null while they are to be made. */
  readonly model: string | null
  readonly symbols: readonly CodeSymbol[]
  readonly chunks: readonly PreparedChunk[]
  /** Runs of three characters, as `domain/code/grams.ts` numbers them. */
  readonly grams: readonly number[]
}

export interface PreparedChunk {
  readonly lineStart: number
  readonly lineEnd: number
  readonly overlap: string
  readonly text: string
  /** Distinct terms, as the analyzer makes them; none where chunks are not found by words. */
  readonly words: readonly string[]
  /** How many content words it has. */
  readonly length: number
  /** As `domain/meaning/vector.ts` packs it; null while it is to be made. */
  readonly vector: string | null
}

/** How much code of a project is there. */
export interface CodeTotals {
  readonly project: string
  readonly files: number
  readonly symbols: number
  readonly chunks: number
  readonly words: number
  /** Files whose vectors are still to be made. */
  readonly pending: number
  /** Milliseconds since 1970 of the last upload. */
  readonly lastIndexed: number | null
  /** Whether its files count from several roots. */
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

/** Which files a search looks at; null: all. */
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

/** A chunk in which a text was found. */
export interface TextHit {
  readonly chunkId: number
  readonly fileId: number
  readonly lineStart: number
  /** How often. */
  readonly hits: number
  /** At least once in the same case. */
  readonly exact: boolean
}

/** Vectors of a stretch of the chunks of one file. */
export interface VectorPack {
  readonly id: number
  readonly fileId: number
  /** Chunk of the first. */
  readonly first: number
  /** One a line, as `domain/meaning/vector.ts` packs them. */
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

/** A file without vectors, and what they are to be made of; for maintenance. */
interface PendingFile {
  readonly id: number
  readonly org: string
  readonly path: string
  readonly symbols: readonly Pick<CodeSymbol, 'name' | 'lineStart' | 'lineEnd' | 'docComment'>[]
  readonly chunks: readonly Pick<StoredChunk, 'lineStart' | 'lineEnd' | 'overlap' | 'text'>[]
}

/**
 * The code of all orgs by project. Every method sees and touches only what its scope may see; a project that the scope is not
 * open to has no code.
 */
export interface CodeIndex {
  totals(scope: Scope, project: string | null): Promise<CodeTotals[]>
  /** The files of a project in order of path; only those of a root, and of these paths in it, where they are named. */
  states(scope: Scope, project: string, root: string | null, paths?: readonly string[]): Promise<FileState[]>
  /**
   * Puts files in the place of those of the same paths and removes others, all or nothing, with its row in the audit log.
   *
   * @throws Problem limit_exceeded when the project would hold more files than it may
   */
  replace(
    caller: Actor,
    project: string,
    change: {
      readonly root: string
      readonly files: readonly PreparedFile[]
      readonly deleted: readonly string[]
      /** Of the audit row; null when another row of the same call tells of it. */
      readonly detail: Readonly<Record<string, number>> | null
    },
  ): Promise<void>
  /** Removes some of a project's files, of one root where it is named, at most so many; how many there were. */
  remove(caller: Actor, project: string, root: string | null, limit: number): Promise<number>
  /** Forgets a project that has no files any more, with its row in the audit log. */
  forget(caller: Actor, project: string, detail: Readonly<Record<string, number>>): Promise<void>

  files(scope: Scope, filter: CodeFilter): Promise<CodeFile[]>
  /** Best first, as `domain/code/names.ts` scores them; `total` counts up to the cap. */
  symbols(
    scope: Scope,
    filter: CodeFilter & { readonly kind: SymbolKind | null },
    query: NameQuery,
    limit: number,
    cap: number,
  ): Promise<{ readonly hits: readonly SymbolHit[]; readonly total: number }>
  /** Files of one project that may hold all of these runs, in order of path; all files for null. */
  filesWithGrams(
    scope: Scope,
    project: string,
    language: string | null,
    grams: readonly number[] | null,
  ): Promise<CodeFile[]>
  /**
   * Chunks of these files that hold each of the texts: in a line of their own for one text, anywhere for several.
   *
   * @param folded in lower case, as `foldCase` makes it; `exact` as they were asked for
   */
  chunksWith(
    scope: Scope,
    files: readonly number[],
    texts: readonly { readonly exact: string; readonly folded: string }[],
  ): Promise<TextHit[]>
  /** The next vectors of the model after an id, in packs; at most `limit` vectors. */
  vectors(scope: Scope, filter: CodeFilter, model: string, afterId: number, limit: number): Promise<VectorPack[]>
  /**
   * Chunks of one project that hold any of the units, those that hold most first; and in how many chunks each unit stands.
   *
   * @param units each a list of terms that stand next to each other
   */
  chunksWithWords(
    scope: Scope,
    project: string,
    units: readonly (readonly string[])[],
    files: readonly number[] | null,
    limit: number,
  ): Promise<{ readonly hits: readonly StoredChunk[]; readonly chunksWithUnit: readonly number[] }>
  /** Chunks by id, or by file and place, in no order; unknown ones are left out. */
  chunks(
    scope: Scope,
    wanted:
      | { readonly ids: readonly number[] }
      | { readonly places: readonly (readonly [fileId: number, n: number])[] },
  ): Promise<StoredChunk[]>

  /** Files whose vectors are to be made, of any org; for maintenance. */
  pending(limit: number): Promise<PendingFile[]>
  /** Gives a file its vectors, unless it is gone. */
  embed(file: Pick<PendingFile, 'id' | 'org'>, model: string, vectors: readonly string[]): Promise<void>
}
