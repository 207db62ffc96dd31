import type { Reranker } from '../../ports/reranker'
import { member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { createReranker, rerankRequest } from '../http-json/reranking'
import { ONE_TRY, ProviderProblem } from '../http-json/retry'
import { createOpenAiClient, NAME, type OpenAiSettings } from './service'

/**
 * Reranking by a server that offers `POST /rerank` in the shape of Jina and Cohere below OPENAI_API_BASE (Jina, vLLM,
 * llama.cpp with `--reranking`, most gateways). OpenAI itself has no such endpoint.
 */
export function createOpenAiReranker(settings: OpenAiSettings, options: HttpOptions = {}): Reranker {
  const client = createOpenAiClient(settings, 'RERANKING_MODEL', { ...ONE_TRY, ...options })
  const { model } = settings
  return createReranker({
    provider: 'openai',
    name: NAME,
    model,
    async request(query, passages) {
      try {
        return member(await client.post('/rerank', rerankRequest(model, query, passages)), 'results')
      } catch (error) {
        if (!(error instanceof ProviderProblem) || error.reason !== 'no_route') throw error
        throw new ProviderProblem({
          ...error.failure,
          message:
            `${NAME} has no /rerank endpoint; set OPENAI_API_BASE to one that has (Jina, vLLM, llama.cpp), or ` +
            'RERANKING_PROVIDER=none',
        })
      }
    },
  })
}
