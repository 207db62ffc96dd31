import type { Reranker } from '../../ports/reranker'
import { member } from '../http-json/body'
import { createReranker } from '../http-json/reranking'
import { ONE_TRY } from '../http-json/retry'
import { type AiOptions, createAiClient, NAME, type WorkersAiSettings } from './service'

/**
 * Reranking by Workers AI: `{query, contexts: [{text}], top_k}` answers `{response: [{id, score}]}`, best first. The model
 * reads about 512 tokens of query and passage and cuts the rest by itself.
 */
export function createWorkersAiReranker(settings: WorkersAiSettings, options: AiOptions = {}): Reranker {
  const client = createAiClient(settings, 'RERANKING_MODEL', { ...ONE_TRY, ...options })
  return createReranker({
    provider: 'workers-ai',
    name: NAME,
    model: settings.model,
    indexKey: 'id',
    scoreKey: 'score',
    request: async (query, passages) => {
      const contexts = passages.map((text) => ({ text }))
      return member(await client.run({ query, contexts, top_k: passages.length }), 'response')
    },
  })
}
