import { relevanceScores } from '../../domain/search/relevance'
import type { Reranker } from '../../ports/reranker'
import { list, member } from './body'
import { ProviderProblem } from './retry'

/**
 * The request that Jina and Cohere introduced and vLLM, llama.cpp, Text Embeddings Inference gateways and most hosted
 * services follow. `top_n` asks for all, since some services answer fewer unless told.
 */
export const rerankRequest = (model: string, query: string, documents: readonly string[]) => ({
  model,
  query,
  documents,
  top_n: documents.length,
})

interface OverReranker {
  readonly provider: string
  /** As callers know the provider: `Ollama`. */
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
