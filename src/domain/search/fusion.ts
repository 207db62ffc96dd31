/**
 * How two orderings become one (threads contract §8). A method is one function over everything that at least one leg found.
 */
export const FUSION_METHODS = ['scores', 'rrf'] as const
export type FusionMethod = (typeof FUSION_METHODS)[number]

/** An entry that at least one leg found. */
export interface Candidate {
  readonly id: number
  /** Place in each leg from 1; null where the leg did not find it. */
  readonly ftsRank: number | null
  readonly semanticRank: number | null
  readonly ftsScore: number | null
  /** Words of its title where the query is that title (`titleWords` of score.ts), else 0. */
  readonly titled: number
  /** The chunk of the entry that is nearest to the query, whichever leg found it; null while its vectors are queued. */
  readonly nearest: { readonly cosine: number; readonly codePoints: number } | null
}

interface Fused {
  readonly id: number
  /** What the order is made by, where both legs found something. */
  readonly fused: number
  readonly rrf: number
}

export interface Fusion {
  /** Best first. */
  readonly order: readonly Fused[]
  /** The cosine from which nearness is counted; null where no vector is known, or none is asked for. */
  readonly lowestCosine: number | null
}

/** Reciprocal rank fusion: Σ over the legs 1 / (k + rank). */
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
/** Code points from which a chunk counts in full: one line is near to everything. */
const FULL_CHUNK = 150
const SMALLEST_SPAN = 1e-6

/** The place of a cosine between the lowest and 1, squared: a really near entry outvotes words, the middle is silent. */
const nearness = (cosine: number, lowest: number): number =>
  ((cosine - lowest) / Math.max(1 - lowest, SMALLEST_SPAN)) ** 2

/** What meaning adds to each candidate; an entry without vectors yet gets the mean of the others. */
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

/** By ranks alone; ties go to the smaller id. */
function fuseByRanks(candidates: readonly Candidate[], k: number): Fusion {
  const order = candidates.map((candidate) => {
    const rrf = reciprocalRanks(candidate, k)
    return { id: candidate.id, fused: rrf, rrf }
  })
  return { order: order.sort((a, b) => b.fused - a.fused || a.id - b.id), lowestCosine: null }
}

/**
 * By the score of the words and the nearness of the meaning; ties go to the newer id. An entry whose title the query is comes first.
 * Where one leg found nothing, the order of the other stands, and `fused` is what that leg alone has to say.
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
 * @param candidates each entry once
 * @param k smoothing of the ranks; `rrf` is told with both methods
 */
export const fuse = (method: FusionMethod, candidates: readonly Candidate[], k: number): Fusion =>
  METHODS[method](candidates, k)
