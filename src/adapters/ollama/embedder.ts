import type { Embedder } from '../../ports/embedder'
import { list, member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { createBatchEmbedder } from '../http-json/embedding'
import { createOllamaClient, NAME, type OllamaSettings } from './service'

/**
 * 16 chunks of 1,500 characters are about 6,000 tokens, which a laptop without GPU reads within one try of 10 s. One
 * request at a time, since Ollama works on them one after the other anyway.
 */
const LIMITS = { texts: 16, characters: 30_000, parallel: 1 }

/** Embeddings of an Ollama server: `POST /api/embed {model, input: [text], truncate}` answers `{embeddings: [[number]]}`. */
export function createOllamaEmbedder(
  settings: OllamaSettings & { readonly dimensions: number },
  options: HttpOptions = {},
): Embedder {
  const client = createOllamaClient(settings, options)
  const { model, dimensions } = settings
  return createBatchEmbedder({
    provider: 'ollama',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    deadline: client.deadline,
    request: async (texts, deadline) =>
      list(member(await client.post('/api/embed', { model, input: texts, truncate: true }, deadline), 'embeddings')),
  })
}
