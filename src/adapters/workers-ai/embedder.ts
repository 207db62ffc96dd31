import type { Embedder } from '../../ports/embedder'
import { list, member } from '../http-json/body'
import { type EmbedderSettings, termsOf } from '../http-json/embedder-terms'
import { createBatchEmbedder } from '../http-json/embedding'
import { type AiOptions, createAiClient, NAME, type WorkersAiSettings } from './service'

/** The models take at most 100 texts a call; half of that keeps a call short. Three calls leave connections for others. */
const LIMITS = { texts: 50, characters: 60_000, parallel: 3 }

/** bge-m3 refuses a text that is too long unless told to cut it; the other models know no such parameter. */
const TAKES_TRUNCATION = /\/bge-m3$/

/** Embeddings of Workers AI: `{text: [text]}` answers `{data: [[number]]}`. */
export function createWorkersAiEmbedder(
  settings: WorkersAiSettings & EmbedderSettings,
  options: AiOptions = {},
): Embedder {
  const terms = termsOf(settings, options)
  const client = createAiClient(settings, 'EMBEDDING_MODEL', { ...options, ...terms.patience })
  const { model, dimensions } = settings
  const asked = TAKES_TRUNCATION.test(model) ? { truncate_inputs: true } : {}
  return createBatchEmbedder({
    provider: 'workers-ai',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    ...terms,
    request: async (text, deadline) => list(member(await client.run({ text, ...asked }, deadline), 'data')),
  })
}
