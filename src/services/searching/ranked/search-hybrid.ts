import { type Problem, unavailable } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { type Doubt, doubtOf } from '../../../domain/recall/doubt'
import type { Levels } from '../../../domain/recall/similarity'
import type { Filter } from '../../../domain/search/filter'
import { type Candidate, type Fusion, type FusionMethod, fuse } from '../../../domain/search/fusion'
import { attempt, type Outcome } from '../../outcome'
import type { Scored } from './ranked-page'
import type { SearchSemantic, SemanticRanking } from './search-semantic'
import type { SearchText, TextRanking } from './search-text'
import type { SemanticHit } from './semantic-hits'

export interface HybridRequest {
  readonly query: string
  readonly filter: Filter
  readonly method: FusionMethod
  /** Smoothing of the ranks. */
  readonly k: number
  /** Which legs are switched on; at least one. */
  readonly legs: { readonly fts: boolean; readonly semantic: boolean }
  /** Entries that each leg brings. */
  readonly depth: number
}

/** What became of the legs, and the one ordering of what they found. */
interface HybridRanking {
  readonly ordering: readonly Scored[]
  /** Entries that a leg found, also where none of them is shown. */
  readonly unique: number
  /** Null when the leg failed or is switched off. */
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
  /** Entries wanted by meaning. */
  readonly depth: number
  /** Null when switched off, as `words`. */
  readonly semantic: SearchSemantic | null
  readonly words: (() => Promise<Words>) | null
  /** Entries whose similarity in meaning is wanted wherever they are. */
  readonly beside: (words: Words) => readonly number[]
}

/**
 * Asks the words and the vectors at once, in two round trips: first the words and the vector index, then the rows of the index's hits and
 * the vectors of the entries that the words found.
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

export function createSearchHybrid({
  searchText,
  searchSemantic,
  levels,
}: {
  readonly searchText: SearchText
  /** Null when switched off. */
  readonly searchSemantic: SearchSemantic | null
  /** Reference cosines of the model. */
  readonly levels: () => Promise<Levels>
}) {
  /**
   * Finds by words and by meaning.
   *
   * @throws Problem unavailable when no leg works
   */
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
    // Counts know nothing of captured entries.
    const isKnown = candidates.some(({ titled }) => titled > 0) || (words?.ok === true && words.value.captured.size > 0)
    const told = doubtOf({
      cosine: near[0]?.cosine ?? null,
      levels: meant?.ok ? meant.value : null,
      words: words?.ok ? words.value.found : null,
    })
    const doubt = isKnown ? 'none' : told.doubt
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

/** Everything that a retriever found, each entry once. */
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

/** What somebody has written or kept stands before what hooks have captured. */
const capturedLast = (ordering: readonly Scored[], captured: ReadonlySet<number>): readonly Scored[] =>
  captured.size === 0
    ? ordering
    : [...ordering.filter(({ id }) => !captured.has(id)), ...ordering.filter(({ id }) => captured.has(id))]

/** The order with what each leg has to say of an entry; a leg that did not find it says nothing. */
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
  return unavailable(`Hybrid search found no working leg: ${reasons.join('; ') || 'both are switched off'}`)
}
