import { createGlob } from '../../../domain/code/globs'
import type { SymbolKind } from '../../../domain/code/symbols'
import type { Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import type { CodeFilter, CodeIndex, StoredChunk, SymbolHit } from '../../../ports/code-index'

/** What the ways of searching code share. */
export interface CodeQuery {
  readonly query: string
  /** Null: every project that is open to the caller. */
  readonly project: string | null
  /** As `normalizeLanguage` spells it. */
  readonly language: string | null
  readonly filePattern: string | null
  readonly symbolKind: SymbolKind | null
  readonly limit: number
  readonly threshold: number
}

/** Hits beyond these are not counted. */
export const MAX_HITS = 1000

export interface ChunkHit {
  readonly chunk: StoredChunk
  readonly similarity?: number
  readonly matchLines?: readonly number[]
  /** Where in its content what was looked for stands; null for nowhere in particular. */
  readonly around: number | null
}

export interface CodeHits {
  readonly symbols: readonly SymbolHit[]
  readonly chunks: readonly ChunkHit[]
  readonly total: number
  readonly warnings: readonly string[]
}

/** By path, line and project: the end of every order. */
export const byPlace = (
  a: { readonly path: string; readonly lineStart: number; readonly project: string },
  b: { readonly path: string; readonly lineStart: number; readonly project: string },
): number => compare(a.path, b.path) || a.lineStart - b.lineStart || compare(a.project, b.project)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Those of the items whose path the pattern takes; all without a pattern. */
export async function matching<T extends { readonly path: string }>(
  items: readonly T[],
  pattern: string | null,
): Promise<readonly T[]> {
  if (pattern === null) return items
  const matches = createGlob(pattern)
  const found: T[] = []
  for (const item of items) {
    if (matches(item.path)) found.push(item)
    await scheduler.tick((item.path.length * pattern.length) >> 5)
  }
  return found
}

/** The filter of a search, with the ids of the files where only the pattern's or the language's are looked at. */
export async function filterOf(
  index: CodeIndex,
  scope: Scope,
  { project, language, filePattern }: CodeQuery,
): Promise<CodeFilter> {
  if (language === null && filePattern === null) return { project, language, files: null }
  const files = await matching(await index.files(scope, { project, language, files: null }), filePattern)
  return { project, language, files: files.map(({ id }) => id) }
}
