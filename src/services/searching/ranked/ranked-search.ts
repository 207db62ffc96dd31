import { unavailable } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { NOTHING_FITS } from '../../../domain/recall/doubt'
import type { Levels } from '../../../domain/recall/similarity'
import type { Analyzer } from '../../../domain/search/analysis'
import { namesCaptured } from '../../../domain/search/captured'
import type { Filter } from '../../../domain/search/filter'
import type { SearchMode } from '../../../domain/search/query'
import { RANK_DEPTH } from '../../../domain/search/window'
import type { Millis } from '../../../domain/time'
import type { EntryStore } from '../../../ports/entry-store'
import type { Reranker } from '../../../ports/reranker'
import type { CatchUp } from '../../keeping/catch-up'
import { createRankedPage, type RankedPage, type RankedRequest } from './ranked-page'
import { createSearchHybrid, type HybridRequest } from './search-hybrid'
import type { SearchSemantic } from './search-semantic'
import type { FoundBy, SearchText, TextRanking } from './search-text'
import { didYouMean, NO_SUGGESTIONS, type SuggestWords } from './suggest-words'

interface HybridPage extends RankedPage {
  readonly modes: readonly ('fts' | 'semantic')[]
  readonly ftsCount: number
  readonly semanticCount: number
  readonly inBoth: number
  readonly unique: number
  /** The cosine from which the fusion by scores counts nearness. */
  readonly lowestCosine: number | null
}

const UNSCORED = {
  ...{ ftsScore: null, ftsRank: null, distance: null, semanticRank: null },
  ...{ fused: null, rrf: null, rerankScore: null },
}

/** No model is asked for what nobody may ever keep. */
const NOT_MEANT = 'Captured sessions are found by their words, behind what meaning found'

/** Search by meaning finds every entry that the filter admits, so an empty answer is due to the filter, unless vectors are still made. */
const NOTHING_PASSES = 'No entry passes the filters: check the spelling of names, and the times'

function saidOf(filter: Filter, found: { readonly length: number }, late: readonly string[]): readonly string[] {
  const isFiltered = filter.op !== 'and' || filter.of.length > 0
  return late.length > 0 || found.length > 0 || !isFiltered || namesCaptured(filter) ? late : [NOTHING_PASSES]
}

const UNKNOWN_WORDS = 'No entry holds some of these words'

const BEYOND = `Nothing was searched or counted: results are ordered up to ${RANK_DEPTH}; take a lower offset, other words or a filter`

export type RankedSearches = ReturnType<typeof createRankedSearches>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createRankedSearches(dependencies: {
  readonly entries: EntryStore
  readonly analyzer: Analyzer
  readonly searchText: SearchText
  /** Null when switched off. */
  readonly searchSemantic: SearchSemantic | null
  readonly reranker: Reranker | null
  /** Suggests words for a query of unknown words. */
  readonly suggestWords?: SuggestWords
  /** Reference cosines of the model. */
  readonly levels: () => Promise<Levels>
  /** Entries each leg of a hybrid search brings, as a multiple of the rank depth. */
  readonly overfetch: number
  /** What to tell of what an upgrade has left to be made. */
  readonly unfinished?: CatchUp['warnings']
}) {
  const { entries, analyzer, searchText, searchSemantic, reranker, overfetch } = dependencies
  const { suggestWords = NO_SUGGESTIONS, levels, unfinished = async () => [] } = dependencies
  const noWords: FoundBy = { units: [], rarity: new Map() }
  const searchHybrid = createSearchHybrid({ searchText, searchSemantic, levels })
  const page = createRankedPage({ entries, analyzer, reranker })

  const beyond = (request: RankedRequest): boolean => request.offset >= RANK_DEPTH
  const NOTHING: RankedPage = { results: [], total: 0, warnings: [BEYOND] }

  /** Words that a query may mean some of whose own no entry holds. */
  async function suggested(
    scope: Scope,
    request: RankedRequest,
    words: TextRanking | null,
  ): Promise<readonly string[]> {
    if (words === null || words.unknown.size === 0) return []
    return suggestWords(scope, request.query, request.filter, words.unknown)
  }

  async function byWords(
    scope: Scope,
    request: RankedRequest & { readonly mode: SearchMode; readonly highlight: boolean },
  ): Promise<RankedPage> {
    if (beyond(request)) return NOTHING
    const words = await searchText(scope, request.query, request.mode, request.filter)
    const scored = words.ordering.map(({ id, score, titled }) => ({
      ...{ ...UNSCORED, id, ftsScore: score },
      ...{ chunk: null, isTitled: titled > 0 },
    }))
    const found = await page(scope, request, scored, words, request.highlight)
    const late = await unfinished(scope, ['words'])
    const asks = request.mode === 'match' && words.ordering.length === 0
    const meant = asks ? didYouMean(await suggested(scope, request, words)) : null
    const asked = meant === null ? [] : [`${UNKNOWN_WORDS}; ${meant}`]
    return { ...found, warnings: [...asked, ...words.warnings, ...late, ...found.warnings] }
  }

  async function byMeaning(
    scope: Scope,
    request: RankedRequest,
  ): Promise<RankedPage & { readonly embeddingMs: Millis }> {
    if (searchSemantic === null) throw unavailable('Semantic search is switched off')
    if (beyond(request)) return { ...NOTHING, embeddingMs: 0 }
    const { hits, embeddingMs } = await searchSemantic(scope, request.query, request.filter, RANK_DEPTH)
    const near = hits.map((hit) => ({ ...UNSCORED, id: hit.id, distance: hit.distance, chunk: hit, isTitled: false }))
    const isNamed = namesCaptured(request.filter)
    // Captured sessions have no vectors: those that hold the words follow.
    const words = isNamed ? await searchText(scope, request.query, 'match', request.filter) : null
    const captured = (words?.ordering ?? []).filter(({ id }) => words?.captured.has(id))
    const behind = captured.map(({ id, score }) => ({ ...UNSCORED, id, ftsScore: score, chunk: null, isTitled: false }))
    const found = await page(scope, request, [...near, ...behind].slice(0, RANK_DEPTH), words ?? noWords)
    const unmeant = isNamed ? [NOT_MEANT] : []
    const told = saidOf(request.filter, hits, await unfinished(scope, ['vectors']))
    return { ...found, warnings: [...unmeant, ...told, ...found.warnings], embeddingMs }
  }

  async function byBoth(
    scope: Scope,
    request: RankedRequest & Omit<HybridRequest, 'depth'> & { readonly highlight?: boolean },
  ): Promise<HybridPage> {
    const none = { modes: [], ftsCount: 0, semanticCount: 0, inBoth: 0, unique: 0, lowestCosine: null }
    if (beyond(request)) return { ...NOTHING, ...none }
    const found = await searchHybrid(scope, { ...request, depth: RANK_DEPTH * overfetch })
    const { ordering, words, meaning, ftsCount, semanticCount, lowestCosine, doubt, unique } = found
    const cut = await page(scope, request, ordering, words ?? noWords, request.highlight)
    const meant = doubt === 'none' ? null : didYouMean(await suggested(scope, request, words))
    const failed = [
      ...(meant === null
        ? []
        : [doubt === 'nothing' ? `Nothing holds these words; ${meant}` : `${UNKNOWN_WORDS}; ${meant}`]),
      ...(doubt === 'doubtful' && ordering.length > 0 ? [`${NOTHING_FITS} listed`] : []),
      ...(words?.warnings ?? ['Full text leg failed; results are based on semantic search only']),
      // A leg that failed has found nothing, whatever its index lacks.
      ...(words === null ? [] : await unfinished(scope, ['words'])),
      ...(meaning === null ? [] : saidOf(request.filter, { length: unique }, await unfinished(scope, ['vectors']))),
      ...(meaning === null ? ['Semantic leg failed; results are based on full text only'] : []),
    ]
    return {
      ...cut,
      warnings: [...failed, ...cut.warnings],
      modes: [...(words === null ? [] : (['fts'] as const)), ...(meaning === null ? [] : (['semantic'] as const))],
      ftsCount,
      semanticCount,
      unique,
      inBoth: ftsCount + semanticCount - unique,
      lowestCosine,
    }
  }

  return { byWords, byMeaning, byBoth }
}
