import type { Reranker } from '../../ports/reranker'
import { member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { createReranker, rerankRequest } from '../http-json/reranking'
import { ONE_TRY, ProviderProblem } from '../http-json/retry'
import { createOllamaClient, NAME, type OllamaSettings } from './service'

/**
 * Reranking through an address that speaks Ollama. No release of Ollama that we know of reranks (issue 3368 asks for it, pull
 * request 11389 would add it). Builds of such pull requests and stand-ins offer `/api/rerank`; llama.cpp's server and
 * gateways put before Ollama offer `/v1/rerank`; both take and answer the Jina shape. So both are tried, the one that exists
 * is remembered, and a plain Ollama is answered with what to set instead.
 *
 * Revisit when a release of Ollama has an endpoint of its own.
 */
const PATHS = ['/api/rerank', '/v1/rerank'] as const

/** @param settings the model must be named: there is no default */
export function createOllamaReranker(settings: OllamaSettings, options: HttpOptions = {}): Reranker {
  const client = createOllamaClient(settings, { ...ONE_TRY, ...options })
  const { model } = settings
  let path: string = PATHS[0]
  return createReranker({
    provider: 'ollama',
    name: NAME,
    model,
    async request(query, passages) {
      const body = rerankRequest(model, query, passages)
      const deadline = client.deadline()
      for (const candidate of new Set([path, ...PATHS])) {
        try {
          const answer = await client.post(candidate, body, deadline)
          path = candidate
          return member(answer, 'results')
        } catch (error) {
          if (!(error instanceof ProviderProblem) || error.reason !== 'no_route') throw error
        }
      }
      throw new ProviderProblem({
        message:
          'This Ollama has no rerank endpoint; set RERANKING_PROVIDER=openai with an OPENAI_API_BASE that serves ' +
          '/rerank (llama.cpp, vLLM, Jina), or RERANKING_PROVIDER=none',
        reason: 'no_route',
        retry: false,
      })
    },
  })
}
