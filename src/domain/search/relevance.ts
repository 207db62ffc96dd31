/** Scores of cross-encoders, which speak different scales. */
interface RawScore {
  /** Place of the passage in the request, from 0. Untrusted, as is the score. */
  readonly index: unknown
  readonly score: unknown
}

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit))

/**
 * One score a passage, in the order of the passages, from 0 to 1.
 *
 * Hosted services answer probabilities, servers of raw models (llama.cpp with bge-reranker) logits such as -11 or 7. An
 * answer with any number outside 0–1 is taken as logits and squashed, which keeps its order; the others pass unchanged.
 *
 * @returns null unless there is exactly one finite score for each passage
 */
export function relevanceScores(raw: readonly RawScore[], passages: number): number[] | null {
  const scores = new Array<number>(passages).fill(Number.NaN)
  for (const { index, score } of raw) {
    if (typeof index !== 'number' || !(index in scores) || !Number.isNaN(scores[index])) return null
    if (typeof score !== 'number' || !Number.isFinite(score)) return null
    scores[index] = score
  }
  if (scores.some(Number.isNaN)) return null
  const areLogits = scores.some((score) => score < 0 || score > 1)
  return areLogits ? scores.map(sigmoid) : scores
}
