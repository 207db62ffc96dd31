import type { Embedder } from '../../ports/embedder'
import { list, member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { type EmbedderSettings, termsOf } from '../http-json/embedder-terms'
import { createBatchEmbedder } from '../http-json/embedding'
import { createOpenAiClient, NAME, type OpenAiSettings } from './service'

/** OpenAI takes 2,048 texts a request, but servers that imitate it take as few as 32 (Text Embeddings Inference). */
const LIMITS = { texts: 32, characters: 100_000, first: 12_000, parallel: 4 }

/** The one family that can be asked for fewer numbers. Other servers refuse a parameter that they do not know. */
const TAKES_DIMENSIONS = /(^|\/)text-embedding-3-/

/** Answers may come in any order; `index` says which text a vector belongs to. */
function inOrder(data: readonly unknown[]): unknown[] {
  const place = (item: unknown): number => Number(member(item, 'index') ?? 0)
  return [...data].sort((a, b) => place(a) - place(b)).map((item) => member(item, 'embedding'))
}

/** Embeddings of any OpenAI-compatible server: `POST /embeddings {model, input: [text]}` answers `{data: [{index, embedding}]}`. */
export function createOpenAiEmbedder(settings: OpenAiSettings & EmbedderSettings, options: HttpOptions = {}): Embedder {
  const terms = termsOf(settings, options)
  const client = createOpenAiClient(settings, 'EMBEDDING_MODEL', {
    ...options,
    ...terms.patience,
    timeoutVariable: 'EMBEDDING_TIMEOUT_S',
  })
  const { model, dimensions } = settings
  const asked = TAKES_DIMENSIONS.test(model) ? { dimensions } : {}
  return createBatchEmbedder({
    provider: 'openai',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    ...terms,
    request: async (input, deadline) =>
      inOrder(list(member(await client.post('/embeddings', { model, input, ...asked }, deadline), 'data'))),
  })
}
