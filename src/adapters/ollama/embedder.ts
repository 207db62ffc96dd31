import type { Embedder } from '../../ports/embedder'
import { list, member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { type EmbedderSettings, termsOf } from '../http-json/embedder-terms'
import { createBatchEmbedder } from '../http-json/embedding'
import { createOllamaClient, NAME, type OllamaSettings } from './service'

/**
 * The first request tells how fast this machine is; a laptop without GPU reads some 3,600 characters a second. One request at a time,
 * since Ollama works on them one after the other anyway.
 */
const LIMITS = { texts: 16, characters: 30_000, first: 6_000, parallel: 1 }

/** Embeddings of an Ollama server: `POST /api/embed {model, input: [text], truncate}` answers `{embeddings: [[number]]}`. */
export function createOllamaEmbedder(settings: OllamaSettings & EmbedderSettings, options: HttpOptions = {}): Embedder {
  const terms = termsOf(settings, options)
  const client = createOllamaClient(settings, { ...options, ...terms.patience, timeoutVariable: 'EMBEDDING_TIMEOUT_S' })
  const { model, dimensions } = settings
  return createBatchEmbedder({
    provider: 'ollama',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    ...terms,
    request: async (texts, deadline) =>
      list(member(await client.post('/api/embed', { model, input: texts, truncate: true }, deadline), 'embeddings')),
  })
}
