/**
 * Fuses full-text and semantic results into one order (threads contract §8). A method is a function of all entries that
 * at least one retriever found.
 */
export const FUSION_METHODS = ['scores', 'rrf'] as const
export type FusionMethod = (typeof FUSION_METHODS)[number]

/** An entry that at least one retriever found. */
export interface Candidate {
  readonly id: number
  /** Rank in each retriever from 1; null where it did not find the entry. */
  readonly ftsRank: number | null
  readonly semanticRank: number | null
  readonly ftsScore: number | null
  /** Number of words of its title if the query equals the title (`titleWords` of score.ts), else 0. */
  readonly titled: number
  /** The chunk most similar to the query, regardless of the retriever; null while its vectors are queued. */
  readonly nearest: { readonly cosine: number; readonly codePoints: number } | null
}

interface Fused {
  readonly id: number
  /** The sort key, where both retrievers found something. */
  readonly fused: number
  readonly rrf: number
}

export interface Fusion {
  /** Best first. */
  readonly order: readonly Fused[]
  /** The cosine that counts as zero similarity; null without vectors or for another method. */
  readonly lowestCosine: number | null
}

/** Reciprocal rank fusion: the sum over both retrievers of 1 / (k + rank). */
const reciprocalRanks = ({ ftsRank, semanticRank }: Candidate, k: number): number =>
  (ftsRank === null ? 0 : 1 / (k + ftsRank)) + (semanticRank === null ? 0 : 1 / (k + semanticRank))

const lowestCosine = (candidates: readonly Candidate[]): number | null =>
  candidates.reduce<number | null>(
    (lowest, { nearest }) => (nearest === null ? lowest : Math.min(lowest ?? nearest.cosine, nearest.cosine)),
    null,
  )

/**
 * The 90 of `score = words + 90 · g · x²` (docs/subjects/ranking.md): points that a full chunk with the vector of the query adds to the
 * score of its words. A larger weight lets meaning decide more often. Chosen on labelled collections (bench/records/retrieval.md).
 */
const NEARNESS_WEIGHT = 90
/** Minimum code points for the full weight, because a short line is similar to everything. */
const FULL_CHUNK = 150
const SMALLEST_SPAN = 1e-6

/** The position of a cosine between the lowest one and 1, squared, so that only very similar entries outweigh words. */
const nearness = (cosine: number, lowest: number): number =>
  ((cosine - lowest) / Math.max(1 - lowest, SMALLEST_SPAN)) ** 2

/** Semantic scores of all candidates; an entry without vectors gets the mean of the others. */
function nearnessScores(candidates: readonly Candidate[], lowest: number): number[] {
  const known = candidates.map(({ nearest }) =>
    nearest === null
      ? null
      : NEARNESS_WEIGHT * Math.min(1, nearest.codePoints / FULL_CHUNK) * nearness(nearest.cosine, lowest),
  )
  const present = known.filter((score) => score !== null)
  const mean = present.reduce((sum, score) => sum + score, 0) / Math.max(present.length, 1)
  return known.map((score) => score ?? mean)
}

/** Orders by ranks only; ties go to the smaller ID. */
function fuseByRanks(candidates: readonly Candidate[], k: number): Fusion {
  const order = candidates.map((candidate) => {
    const rrf = reciprocalRanks(candidate, k)
    return { id: candidate.id, fused: rrf, rrf }
  })
  return { order: order.sort((a, b) => b.fused - a.fused || a.id - b.id), lowestCosine: null }
}

/**
 * Orders by full-text score plus semantic score; ties go to the newer ID. An entry whose title equals the query comes
 * first. If one retriever found nothing, the order of the other remains, and `fused` is its score.
 */
function fuseByScores(candidates: readonly Candidate[], k: number): Fusion {
  const lowest = lowestCosine(candidates)
  const byWords = candidates.some(({ ftsRank }) => ftsRank !== null)
  const byMeaning = candidates.some(({ semanticRank }) => semanticRank !== null)
  const near = lowest === null ? candidates.map(() => 0) : nearnessScores(candidates, lowest)
  const scored = candidates.map((candidate, i) => ({
    candidate,
    near: near[i] as number,
    rrf: reciprocalRanks(candidate, k),
  }))
  if (byWords && byMeaning) {
    const order = scored.map(({ candidate: { id, ftsScore, titled }, near, rrf }) => ({
      fused: { id, fused: (ftsScore ?? 0) + near, rrf },
      titled,
    }))
    order.sort((a, b) => b.titled - a.titled || b.fused.fused - a.fused.fused || b.fused.id - a.fused.id)
    return { order: order.map(({ fused }) => fused), lowestCosine: lowest }
  }
  const rankOf = ({ ftsRank, semanticRank }: Candidate): number => ftsRank ?? semanticRank ?? 0
  const order = scored
    .sort((a, b) => rankOf(a.candidate) - rankOf(b.candidate))
    .map(({ candidate, rrf }) => {
      const alone = NEARNESS_WEIGHT * nearness(candidate.nearest?.cosine ?? lowest ?? 0, lowest ?? 0)
      return { id: candidate.id, fused: byWords ? (candidate.ftsScore ?? 0) : alone, rrf }
    })
  return { order, lowestCosine: lowest }
}

const METHODS: Readonly<Record<FusionMethod, (candidates: readonly Candidate[], k: number) => Fusion>> = {
  scores: fuseByScores,
  rrf: fuseByRanks,
}

/**
 * Fuses the results of both retrievers.
 * @param candidates without duplicates
 * @param k smoothing of the ranks; both methods return `rrf`
 */
export const fuse = (method: FusionMethod, candidates: readonly Candidate[], k: number): Fusion =>
  METHODS[method](candidates, k)
