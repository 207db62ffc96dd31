import { unknownLanguage } from '../../../domain/code/languages'
import { nameQuery } from '../../../domain/code/names'
import { type IndexStatus, statusOf } from '../../../domain/code/status'
import type { Scope } from '../../../domain/identity/scope'
import type { Levels } from '../../../domain/recall/similarity'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Clock } from '../../../ports/clock'
import type { CodeIndex, CodeTotals } from '../../../ports/code-index'
import type { Embedder } from '../../../ports/embedder'
import { type CodeHits, type CodeQuery, filterOf, MAX_HITS } from './code-hits'
import { createSearchChunks } from './search-chunks'
import { createSearchLines } from './search-lines'

/** Searches of code in three modes, and the state of the index beside what they find. */
export const CODE_MODES = ['semantic', 'symbol', 'text'] as const
type CodeMode = (typeof CODE_MODES)[number]

export type { ChunkHit, CodeHits, CodeQuery } from './code-hits'

/** No symbol's name is as long. */
const LONGEST_NAME = 600

interface FoundCode extends CodeHits {
  readonly indexStatus: IndexStatus
  /** Projects of several roots, whose files are told with theirs. */
  readonly roots: ReadonlySet<string>
}

export type SearchCode = ReturnType<typeof createSearchCode>

export function createSearchCode(dependencies: {
  readonly index: CodeIndex
  /** Null when semantic search is switched off. */
  readonly embedder: Embedder | null
  readonly analyzer: Analyzer
  /** What cosines of the embedder mean. */
  readonly levels: () => Promise<Levels>
  readonly clock: Clock
}) {
  const { index, clock } = dependencies

  async function bySymbol(scope: Scope, query: CodeQuery): Promise<CodeHits> {
    const asked = nameQuery(query.query)
    if (asked.exact.length > LONGEST_NAME) return { symbols: [], chunks: [], total: 0, warnings: [] }
    // The language stands beside each name; only a pattern needs the list of files.
    const filter =
      query.filePattern === null
        ? { project: query.project, language: query.language, files: null }
        : await filterOf(index, scope, query)
    const { hits, total } = await index.symbols(
      scope,
      { ...filter, kind: query.symbolKind },
      asked,
      query.limit,
      MAX_HITS,
    )
    return { symbols: hits, chunks: [], total, warnings: [] }
  }

  const modes: Readonly<Record<CodeMode, (scope: Scope, query: CodeQuery) => Promise<CodeHits>>> = {
    symbol: bySymbol,
    text: createSearchLines(index),
    semantic: createSearchChunks(dependencies),
  }

  /** @throws Problem unavailable when a semantic search cannot be embedded; invalid_input for a malformed pattern */
  return async (scope: Scope, mode: CodeMode, query: CodeQuery): Promise<FoundCode> => {
    const [hits, totals] = await Promise.all([modes[mode](scope, query), index.totals(scope, query.project)])
    const others = totals.length === 0 && query.project !== null ? await index.totals(scope, null) : []
    const unknown = hits.total === 0 && query.language !== null ? unknownLanguage(query.language) : null
    const warnings = [
      ...(totals.length === 0 ? [withoutCode(query.project, others)] : hits.warnings),
      ...(unknown === null ? [] : [unknown]),
    ]
    return { ...hits, warnings, indexStatus: statusOf(totals, clock.now()), roots: rootsOf(totals) }
  }
}

/** Projects that a warning names. */
const NAMED = 10

/** What to know where nothing is indexed. */
function withoutCode(project: string | null, others: readonly CodeTotals[]): string {
  const names = others.slice(0, NAMED).map((one) => one.project)
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : ''
  const where = project === null ? 'no project' : `project ${project}`
  const known = names.length === 0 ? 'index it with `commonplace index`' : `these have: ${names.join(', ')}${more}`
  return project === null ? `${where} has code; ${known}` : `${where} has no code; ${known}`
}

/** The projects whose files count from several roots. */
const rootsOf = (totals: readonly CodeTotals[]): ReadonlySet<string> =>
  new Set(totals.filter(({ hasRoots }) => hasRoots).map(({ project }) => project))
