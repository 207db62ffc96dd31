import { type Problem, unavailable } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { type Doubt, doubtOf, NOTHING_FITS } from '../../../domain/recall/answer-confidence'
import type { Levels } from '../../../domain/recall/similarity'
import type { Analyzer } from '../../../domain/search/analysis'
import { includesCaptured } from '../../../domain/search/captured'
import type { Filter } from '../../../domain/search/filter'
import { type Candidate, type Fusion, type FusionMethod, fuse } from '../../../domain/search/fusion'
import type { SearchMode } from '../../../domain/search/query'
import { RANK_DEPTH } from '../../../domain/search/window'
import type { Millis } from '../../../domain/time'
import type { EntryStore } from '../../../ports/entry-store'
import type { Reranker } from '../../../ports/models'
import { type FindDisagreements, WITHOUT_DISAGREEMENTS } from '../../currency/disagreements'
import type { CatchUp } from '../../maintenance/sync-vectors'
import { attempt, type Outcome } from '../../outcome'
import { createRankedPage, type RankedPage, type RankedRequest, type Scored } from './ranked-page'
import type { SearchSemantic, SemanticHit, SemanticRanking } from './search-semantic'
import type { FoundBy, SearchText, TextRanking } from './search-text'
import { didYouMean, NO_SUGGESTIONS, type SuggestWords } from './suggest-words'

export interface HybridRequest {
  readonly query: string
  readonly filter: Filter
  readonly method: FusionMethod
  /** Smoothing of ranks. */
  readonly k: number
  /** Retrievers that are switched on; at least one. */
  readonly legs: { readonly fts: boolean; readonly semantic: boolean }
  /** Entries that each retriever returns. */
  readonly depth: number
}

/** The results of both retrievers in one order. */
interface HybridRanking {
  readonly ordering: readonly Scored[]
  /** Number of found entries, including those that are not shown. */
  readonly unique: number
  /** Null if the retriever failed or is switched off. */
  readonly words: TextRanking | null
  readonly meaning: SemanticRanking | null
  readonly ftsCount: number
  readonly semanticCount: number
  readonly lowestCosine: number | null
  readonly doubt: Doubt
}

type Nearest = ReadonlyMap<number, SemanticHit>

interface BothRequest<Words> {
  readonly query: string
  readonly filter: Filter
  /** Entries that semantic search returns. */
  readonly depth: number
  /** Null if switched off, as `words`. */
  readonly semantic: SearchSemantic | null
  readonly words: (() => Promise<Words>) | null
  /** Returns entries whose similarity is needed wherever they rank. */
  readonly beside: (words: Words) => readonly number[]
}

/**
 * Searches words and vectors concurrently in two round trips.
 *
 * The first asks the words and the vector index; the second reads the rows of the index's hits, and the vectors of entries found
 * by words.
 */
export async function askBoth<Words>(
  scope: Scope,
  { query, filter, depth, semantic, words: search, beside }: BothRequest<Words>,
): Promise<{ readonly words: Outcome<Words> | null; readonly meaning: Outcome<SemanticRanking> | null }> {
  const embedded = semantic && (await attempt(() => semantic.embed(query)))
  const [words, asked] = await Promise.all([
    search && attempt(search),
    embedded?.ok ? attempt(() => (semantic as SearchSemantic).find(scope, embedded.value, depth, filter)) : embedded,
  ])
  const known = words?.ok ? beside(words.value) : []
  const meaning =
    asked?.ok && semantic
      ? await attempt(() => semantic.answer(scope, asked.value, filter, depth, known))
      : failed(asked)
  return { words, meaning }
}

function createSearchHybrid({
  searchText,
  searchSemantic,
  levels,
}: {
  readonly searchText: SearchText
  /** Null if switched off. */
  readonly searchSemantic: SearchSemantic | null
  /** Returns the reference cosines of the model. */
  readonly levels: () => Promise<Levels>
}) {
  /** Searches by words and by meaning. @throws Problem unavailable if no retriever works */
  return async (scope: Scope, request: HybridRequest): Promise<HybridRanking> => {
    const { query, filter, method, k, legs, depth } = request
    const { words, meaning } = await askBoth(scope, {
      ...{ query, filter, depth },
      semantic: legs.semantic ? searchSemantic : null,
      words: legs.fts ? () => searchText(scope, query, 'match', filter) : null,
      beside: ({ ordering }) => (method === 'scores' ? ordering.slice(0, depth).map(({ id }) => id) : []),
    })
    const fts = words?.ok ? words.value.ordering.slice(0, depth) : []
    if (!words?.ok && !meaning?.ok) throw bothFailed(words, meaning)
    const near = meaning?.ok ? meaning.value.hits : []
    const candidates = gather(fts, near, meaning?.ok ? meaning.value.known : new Map())
    const fusion = fuse(method, candidates, k)
    const meant = meaning?.ok ? await attempt(levels) : null
    // Counts do not include captured entries.
    const isKnown = candidates.some(({ titled }) => titled > 0) || (words?.ok === true && words.value.captured.size > 0)
    const doubted = doubtOf({
      cosine: near[0]?.cosine ?? null,
      levels: meant?.ok ? meant.value : null,
      words: words?.ok ? words.value.found : null,
    })
    const doubt = isKnown ? 'none' : doubted.doubt
    const ordering = capturedLast(scoredBy(fusion, candidates, near), words?.ok ? words.value.captured : new Set())
    return {
      ordering: doubt === 'nothing' ? [] : ordering,
      unique: candidates.length,
      doubt,
      words: words?.ok ? words.value : null,
      meaning: meaning?.ok ? meaning.value : null,
      ftsCount: fts.length,
      semanticCount: near.length,
      lowestCosine: fusion.lowestCosine,
    }
  }
}

/** Collects everything that the retrievers found, each entry once. */
export function gather(fts: TextRanking['ordering'], near: readonly SemanticHit[], nearest: Nearest): Candidate[] {
  const ftsPlace = new Map(fts.map(({ id, score, titled }, i) => [id, { rank: i + 1, score, titled }]))
  const semanticPlace = new Map(near.map(({ id }, i) => [id, i + 1]))
  return [...new Set([...ftsPlace.keys(), ...semanticPlace.keys()])].map((id) => {
    const chunk = nearest.get(id)
    return {
      id,
      ftsRank: ftsPlace.get(id)?.rank ?? null,
      ftsScore: ftsPlace.get(id)?.score ?? null,
      titled: ftsPlace.get(id)?.titled ?? 0,
      semanticRank: semanticPlace.get(id) ?? null,
      nearest: chunk === undefined ? null : { cosine: chunk.cosine, codePoints: chunk.length },
    }
  })
}

/** Moves captured entries after those that were written or approved. */
const capturedLast = (ordering: readonly Scored[], captured: ReadonlySet<number>): readonly Scored[] =>
  captured.size === 0
    ? ordering
    : [...ordering.filter(({ id }) => !captured.has(id)), ...ordering.filter(({ id }) => captured.has(id))]

/** Adds the scores of each retriever to the order; null for a retriever that did not find the entry. */
function scoredBy({ order }: Fusion, candidates: readonly Candidate[], near: readonly SemanticHit[]): Scored[] {
  const candidateOf = new Map(candidates.map((candidate) => [candidate.id, candidate]))
  const hitOf = new Map(near.map((hit) => [hit.id, hit]))
  return order.map(({ id, fused, rrf }) => {
    const { ftsRank, ftsScore, semanticRank, titled } = candidateOf.get(id) as Candidate
    const chunk = hitOf.get(id) ?? null
    return {
      id,
      fused,
      rrf,
      ftsRank,
      ftsScore,
      semanticRank,
      distance: chunk?.distance ?? null,
      rerankScore: null,
      chunk,
      isTitled: titled > 0,
    }
  })
}

const failed = (asked: Outcome<unknown> | null): Outcome<SemanticRanking> | null => (asked && !asked.ok ? asked : null)

function bothFailed(words: Outcome<unknown> | null, meaning: Outcome<unknown> | null): Problem {
  const reasons = [words, meaning].flatMap((leg) => (leg && !leg.ok ? [leg.problem.message] : []))
  return unavailable(`Hybrid search has no working retriever: ${reasons.join('; ') || 'both are switched off'}`)
}

interface HybridPage extends RankedPage {
  readonly modes: readonly ('fts' | 'semantic')[]
  readonly ftsCount: number
  readonly semanticCount: number
  readonly inBoth: number
  readonly unique: number
  /** The cosine from which score fusion counts similarity. */
  readonly lowestCosine: number | null
  readonly doubt: Doubt
}

const UNSCORED = {
  ...{ ftsScore: null, ftsRank: null, distance: null, semanticRank: null },
  ...{ fused: null, rrf: null, rerankScore: null },
}

/** Captured sessions have no vectors until they are approved. */
const WORDS_ONLY = 'Captured sessions match by words only and follow the results by meaning'

/** Semantic search returns every entry that passes the filter, so an empty answer is due to the filter or to pending vectors. */
const NOTHING_PASSES = 'No entry matches the filters: check the spelling of names, and the times'

function filterWarnings(
  filter: Filter,
  found: { readonly length: number },
  late: readonly string[],
): readonly string[] {
  const isFiltered = filter.op !== 'and' || filter.of.length > 0
  return late.length > 0 || found.length > 0 || !isFiltered || includesCaptured(filter) ? late : [NOTHING_PASSES]
}

const UNKNOWN_WORDS = 'No entry contains some of these words'

const BEYOND = `Nothing was searched: only the best ${RANK_DEPTH} results are ranked. Use a lower offset, other words or a filter`

export type RankedSearches = ReturnType<typeof createRankedSearches>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createRankedSearches(dependencies: {
  readonly entries: EntryStore
  readonly analyzer: Analyzer
  readonly searchText: SearchText
  /** Null if switched off. */
  readonly searchSemantic: SearchSemantic | null
  readonly reranker: Reranker | null
  /** Suggests words for a query of unknown words. */
  readonly suggestWords?: SuggestWords
  /** Returns the reference cosines of the model. */
  readonly levels: () => Promise<Levels>
  /** Entries that each retriever of a hybrid search returns, as a multiple of the rank depth. */
  readonly overfetch: number
  /** Returns warnings about indexes that are still rebuilt after an upgrade. */
  readonly unfinished?: CatchUp['warnings']
  /** Absent if no model judges memories. */
  readonly findDisagreements?: FindDisagreements
}) {
  const { entries, analyzer, searchText, searchSemantic, reranker, overfetch } = dependencies
  const { findDisagreements = WITHOUT_DISAGREEMENTS } = dependencies
  const { suggestWords = NO_SUGGESTIONS, levels, unfinished = async () => [] } = dependencies
  const noWords: FoundBy = { units: [], rarity: new Map() }
  const searchHybrid = createSearchHybrid({ searchText, searchSemantic, levels })
  const page = createRankedPage({ entries, analyzer, reranker, findDisagreements })

  const beyond = (request: RankedRequest): boolean => request.offset >= RANK_DEPTH
  const NOTHING: RankedPage = { results: [], total: 0, ordering: [], warnings: [BEYOND] }

  /** Suggests words for those in the query that no entry contains. */
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
    const isNamed = includesCaptured(request.filter)
    // Captured sessions have no vectors, so those that contain the words follow.
    const words = isNamed ? await searchText(scope, request.query, 'match', request.filter) : null
    const captured = (words?.ordering ?? []).filter(({ id }) => words?.captured.has(id))
    const behind = captured.map(({ id, score }) => ({ ...UNSCORED, id, ftsScore: score, chunk: null, isTitled: false }))
    const found = await page(scope, request, [...near, ...behind].slice(0, RANK_DEPTH), words ?? noWords)
    const wordsOnly = isNamed ? [WORDS_ONLY] : []
    const filtered = filterWarnings(request.filter, hits, await unfinished(scope, ['vectors']))
    return { ...found, warnings: [...wordsOnly, ...filtered, ...found.warnings], embeddingMs }
  }

  async function byBoth(
    scope: Scope,
    request: RankedRequest & Omit<HybridRequest, 'depth'> & { readonly highlight?: boolean },
  ): Promise<HybridPage> {
    const none = {
      modes: [],
      ftsCount: 0,
      semanticCount: 0,
      inBoth: 0,
      unique: 0,
      lowestCosine: null,
      doubt: 'none',
    } as const
    if (beyond(request)) return { ...NOTHING, ...none }
    const found = await searchHybrid(scope, { ...request, depth: RANK_DEPTH * overfetch })
    const { ordering, words, meaning, ftsCount, semanticCount, lowestCosine, doubt, unique } = found
    const cut = await page(scope, request, ordering, words ?? noWords, request.highlight)
    const meant = doubt === 'none' ? null : didYouMean(await suggested(scope, request, words))
    const failed = [
      ...(meant === null
        ? []
        : [doubt === 'nothing' ? `No entry contains these words; ${meant}` : `${UNKNOWN_WORDS}; ${meant}`]),
      ...(doubt === 'doubtful' && ordering.length > 0 ? [`${NOTHING_FITS} listed`] : []),
      ...(words?.warnings ?? ['Full text leg failed; results are based on semantic search only']),
      // A failed retriever needs no warning about its index.
      ...(words === null ? [] : await unfinished(scope, ['words'])),
      ...(meaning === null
        ? []
        : filterWarnings(request.filter, { length: unique }, await unfinished(scope, ['vectors']))),
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
      doubt,
    }
  }

  return { byWords, byMeaning, byBoth }
}
