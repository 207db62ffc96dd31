import type { Reranker } from '../../ports/models'
import { list, member } from './client'
import { ProviderProblem } from './retry'

/** Score of a cross-encoder, on the provider's own scale. */
interface RawScore {
  /** Index of the passage in the request, from 0. Untrusted, as is the score. */
  readonly index: unknown
  readonly score: unknown
}

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit))

/**
 * Converts scores to 0–1, one for each passage, in the order of the passages.
 *
 * Hosted services return probabilities, servers of raw models (llama.cpp with bge-reranker) logits such as -11 or 7. A response with any
 * number
 * outside 0–1 is treated as logits and squashed, which preserves the order.
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

/**
 * Creates a request in the format of Jina and Cohere, which vLLM, llama.cpp, Text Embeddings Inference gateways and most hosted services
 * accept. `top_n` requests all scores, since some services return fewer by default.
 */
export const rerankRequest = (model: string, query: string, documents: readonly string[]) => ({
  model,
  query,
  documents,
  top_n: documents.length,
})

interface OverReranker {
  readonly provider: string
  /** Display name, such as `Ollama`. */
  readonly name: string
  readonly model: string
  /** @returns untrusted `[{index, <scoreKey>}]`, in any order */
  readonly request: (query: string, passages: readonly string[]) => Promise<unknown>
  readonly indexKey?: string
  readonly scoreKey?: string
}

export function createReranker(over: OverReranker): Reranker {
  const { provider, name, model, request, indexKey = 'index', scoreKey = 'relevance_score' } = over
  return {
    provider,
    model,
    async rerank(query, passages) {
      if (passages.length === 0) return []
      const raw = list(await request(query, passages))
      const scores = relevanceScores(
        raw.map((item) => ({ index: member(item, indexKey), score: member(item, scoreKey) })),
        passages.length,
      )
      if (scores !== null) return scores
      throw new ProviderProblem({
        message: `${name} did not return one score for each passage; check that RERANKING_MODEL is a reranking model`,
        reason: 'bad_answer',
        retry: false,
        cause: new Error(`${raw.length} scores for ${passages.length} passages`),
      })
    },
  }
}
