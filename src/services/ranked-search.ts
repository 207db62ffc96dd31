import type { Analyzer } from '../domain/analysis'
import { MAX_TEXT_BYTES } from '../domain/draft'
import type { EntryPreview } from '../domain/entry'
import { type Problem, unavailable } from '../domain/errors'
import type { Filter } from '../domain/filter'
import { fuse } from '../domain/fusion'
import { highlight } from '../domain/highlight'
import { passageAround } from '../domain/passage'
import type { SearchMode } from '../domain/query'
import type { Scope } from '../domain/scope'
import { RANK_DEPTH, type Window } from '../domain/window'
import type { EntryStore } from '../ports/entry-store'
import type { Reranker } from '../ports/reranker'
import { attempt, type Outcome } from './outcome'
import type { SearchSemantic, SemanticHit, SemanticRanking } from './search-semantic'
import type { FoundBy, SearchText, TextRanking } from './search-text'

/** The three ranked searches: one ordering of at most 100 entries a query, cut into pages. */
export interface RankedRequest extends Window {
  readonly query: string
  readonly filter: Filter
  /** Code points of text to bring with each result. */
  readonly previewLength: number
}

export interface RankedResult {
  readonly entry: EntryPreview
  readonly ftsScore: number | null
  readonly ftsRank: number | null
  readonly distance: number | null
  readonly semanticRank: number | null
  readonly rrf: number | null
  readonly rerankScore: number | null
  /** Null when not asked for, or when the text itself holds no hit. */
  readonly highlighted: string | null
}

export interface RankedPage {
  readonly results: readonly RankedResult[]
  /** Matches, counted up to the rank depth. */
  readonly total: number
  readonly warnings: readonly string[]
}

export interface HybridPage extends RankedPage {
  readonly modes: readonly ('fts' | 'semantic')[]
  readonly ftsCount: number
  readonly semanticCount: number
  readonly inBoth: number
  readonly unique: number
}

type Scored = Omit<RankedResult, 'entry' | 'highlighted'> & { readonly id: number; readonly chunk: SemanticHit | null }

const UNSCORED = { ftsScore: null, ftsRank: null, distance: null, semanticRank: null, rrf: null, rerankScore: null }
const RERANK_FAILED = 'Reranking failed; results are in their first order'

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
}) {
  const { entries, analyzer, searchText, searchSemantic, reranker, overfetch, farthest } = dependencies
  const noWords: FoundBy = { units: [] }

  const read = async (scope: Scope, request: RankedRequest, all: readonly Scored[], length: number) =>
    new Map(
      (
        await entries.previews(
          scope,
          request.filter,
          all.map(({ id }) => id),
          length,
        )
      ).map((entry) => [entry.id, entry]),
    )

  /** The ordering by the cross-encoder, or as it was, with a warning, when that fails. */
  async function rerank(
    by: Reranker,
    query: string,
    ordering: readonly Scored[],
    byId: ReadonlyMap<number, EntryPreview>,
    words: FoundBy,
  ) {
    const present = ordering.filter(({ id }) => byId.has(id))
    const passages = present.map(({ id, chunk }) =>
      passageAround(byId.get(id)?.text ?? '', chunk, words.units, analyzer),
    )
    const outcome = await attempt(() => by.rerank(query, passages))
    if (!outcome.ok) return { ordering, warnings: [RERANK_FAILED] }
    const scored = present.map((one, i) => ({ ...one, rerankScore: outcome.value[i] as number }))
    return { ordering: scored.sort((a, b) => b.rerankScore - a.rerankScore), warnings: [] }
  }

  /**
   * Cuts the page out of the ordering and reads its entries, with scope and filter once more. With a reranker the whole
   * ordering is read, once, and the page comes from that.
   */
  async function page(
    scope: Scope,
    request: RankedRequest,
    all: readonly Scored[],
    words: FoundBy,
    highlighting = false,
  ): Promise<RankedPage> {
    const cut = all.slice(0, RANK_DEPTH)
    const pageOf = (ordering: readonly Scored[]) => ordering.slice(request.offset, request.offset + request.limit)
    const reads = reranker && cut.length > 0 ? cut : pageOf(cut)
    const byId = await read(scope, request, reads, reranker || highlighting ? MAX_TEXT_BYTES : request.previewLength)
    const { ordering, warnings } =
      reranker && byId.size > 0
        ? await rerank(reranker, request.query, cut, byId, words)
        : { ordering: cut, warnings: [] }
    const results = pageOf(ordering).flatMap(({ id, chunk: _, ...scores }) => {
      const entry = byId.get(id)
      if (entry === undefined) return []
      return [{ entry, ...scores, highlighted: highlighting ? highlight(entry.text, words.units, analyzer) : null }]
    })
    return { results, total: cut.length, warnings }
  }

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
