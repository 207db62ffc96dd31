import type { Analyzer } from '../domain/analysis'
import { type Problem, unavailable } from '../domain/errors'
import { fuse } from '../domain/fusion'
import { type Pace, WITHOUT_REST } from '../domain/pace'
import type { SearchMode } from '../domain/query'
import type { Scope } from '../domain/scope'
import { RANK_DEPTH } from '../domain/window'
import type { EntryStore } from '../ports/entry-store'
import type { Reranker } from '../ports/reranker'
import { attempt, type Outcome } from './outcome'
import { createRankedPage, type RankedPage, type RankedRequest } from './ranked-page'
import type { SearchSemantic, SemanticRanking } from './search-semantic'
import type { FoundBy, SearchText, TextRanking } from './search-text'

export interface HybridPage extends RankedPage {
  readonly modes: readonly ('fts' | 'semantic')[]
  readonly ftsCount: number
  readonly semanticCount: number
  readonly inBoth: number
  readonly unique: number
}

const UNSCORED = { ftsScore: null, ftsRank: null, distance: null, semanticRank: null, rrf: null, rerankScore: null }

export type RankedSearches = ReturnType<typeof createRankedSearches>

export function createRankedSearches(dependencies: {
  readonly entries: EntryStore
  readonly analyzer: Analyzer
  readonly searchText: SearchText
  /** Null when switched off. */
  readonly searchSemantic: SearchSemantic | null
  readonly reranker: Reranker | null
  /** Entries each leg of a hybrid search brings, as a multiple of the rank depth. */
  readonly overfetch: number
  /** Semantic hits farther than this take no part in a fusion: noise of a weak model would outweigh words. */
  readonly farthest: number
  readonly pace?: Pace
}) {
  const { entries, analyzer, searchText, searchSemantic, reranker, overfetch, farthest } = dependencies
  const { pace = WITHOUT_REST } = dependencies
  const noWords: FoundBy = { units: [] }
  const page = createRankedPage({ entries, analyzer, reranker, pace })

  const beyond = (request: RankedRequest): boolean => request.offset >= RANK_DEPTH
  const NOTHING: RankedPage = { results: [], total: 0, warnings: [] }

  async function byWords(
    scope: Scope,
    request: RankedRequest & { readonly mode: SearchMode; readonly highlight: boolean },
  ): Promise<RankedPage> {
    if (beyond(request)) return NOTHING
    const words = await searchText(scope, request.query, request.mode, request.filter)
    const scored = words.ordering.map(({ id, score }) => ({ ...UNSCORED, id, ftsScore: score, chunk: null }))
    const found = await page(scope, request, scored, words, request.highlight)
    return { ...found, warnings: [...words.warnings, ...found.warnings] }
  }

  async function byMeaning(
    scope: Scope,
    request: RankedRequest,
  ): Promise<RankedPage & { readonly embeddingMs: number }> {
    if (searchSemantic === null) throw unavailable('Semantic search is switched off')
    if (beyond(request)) return { ...NOTHING, embeddingMs: 0 }
    const { hits, embeddingMs } = await searchSemantic(scope, request.query, request.filter, RANK_DEPTH)
    const scored = hits.map((hit) => ({ ...UNSCORED, id: hit.id, distance: hit.distance, chunk: hit }))
    return { ...(await page(scope, request, scored, noWords)), embeddingMs }
  }

  /** @param legs which legs are switched on; at least one */
  async function byBoth(
    scope: Scope,
    request: RankedRequest & {
      readonly k: number
      readonly legs: { readonly fts: boolean; readonly semantic: boolean }
    },
  ): Promise<HybridPage> {
    const none = { modes: [], ftsCount: 0, semanticCount: 0, inBoth: 0, unique: 0 }
    if (beyond(request)) return { ...NOTHING, ...none }
    const depth = RANK_DEPTH * overfetch
    const { query, filter, legs } = request
    const asked = legs.semantic && searchSemantic ? await attempt(() => searchSemantic.ask(scope, query, depth)) : null
    // Both legs read the database in the same moment, and so in one round trip.
    const [words, meaning] = await Promise.all([
      legs.fts ? attempt(() => searchText(scope, query, 'match', filter)) : null,
      asked?.ok && searchSemantic
        ? attempt(() => searchSemantic.answer(scope, asked.value, filter, depth))
        : failedLeg(asked),
    ])
    if (!words?.ok && !meaning?.ok) throw bothFailed(words, meaning)
    const fts = words?.ok ? words.value.ordering.slice(0, depth) : []
    const near = meaning?.ok ? meaning.value.hits.filter((hit) => hit.distance <= farthest) : []
    const scoreOf = new Map(fts.map(({ id, score }) => [id, score]))
    const hitOf = new Map(near.map((hit) => [hit.id, hit]))
    const fused = fuse([fts.map(({ id }) => id), near.map(({ id }) => id)], request.k)
    const scored = fused.map(({ id, rrf, ranks }) => ({
      ...UNSCORED,
      id,
      rrf,
      ftsRank: ranks[0] ?? null,
      semanticRank: ranks[1] ?? null,
      ftsScore: scoreOf.get(id) ?? null,
      distance: hitOf.get(id)?.distance ?? null,
      chunk: hitOf.get(id) ?? null,
    }))
    const found = await page(scope, request, scored, words?.ok ? words.value : noWords)
    const failed = [
      ...(words?.ok ? words.value.warnings : ['Full text leg failed; results are based on semantic search only']),
      ...(meaning?.ok ? [] : ['Semantic leg failed; results are based on full text only']),
    ]
    return {
      ...found,
      warnings: [...failed, ...found.warnings],
      modes: [...(words?.ok ? (['fts'] as const) : []), ...(meaning?.ok ? (['semantic'] as const) : [])],
      ftsCount: fts.length,
      semanticCount: near.length,
      unique: fused.length,
      inBoth: fts.length + near.length - fused.length,
    }
  }

  return { byWords, byMeaning, byBoth }
}

const failedLeg = (asked: Outcome<unknown> | null): Outcome<SemanticRanking> | null =>
  asked && !asked.ok ? asked : null

function bothFailed(words: Outcome<TextRanking> | null, meaning: Outcome<SemanticRanking> | null): Problem {
  const reasons = [words, meaning].flatMap((leg) => (leg && !leg.ok ? [leg.problem.message] : []))
  return unavailable(`Hybrid search found no working leg: ${reasons.join('; ') || 'both are switched off'}`)
}
