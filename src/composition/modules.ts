import type { Config } from '../config'
import { deferred } from '../domain/deferred'
import { loadStemmer } from '../domain/search/analysis'

export const postgres = deferred(() => import('./postgres'))
export const vectorize = deferred(() => import('../adapters/vectorize/index'))
export const ollama = deferred(() => import('../adapters/ollama/models'))
export const openAi = deferred(() => import('../adapters/openai/models'))
export const workersAi = deferred(() => import('../adapters/workers-ai/models'))

/** Loads the modules that a configuration needs, before its services are composed. */
export async function loadModules(config: Config): Promise<void> {
  const { fts, storageBackend, vectorBackend, embedding, summary, languageModel, reranking } = config
  const usesPostgres = storageBackend === 'postgresql' || vectorBackend === 'pgvector'
  const providers = [embedding, summary, languageModel, reranking].map((choice) => choice?.provider)
  await Promise.all([
    loadStemmer(fts.language),
    usesPostgres ? postgres.load() : null,
    vectorBackend === 'vectorize' ? vectorize.load() : null,
    providers.includes('ollama') ? ollama.load() : null,
    providers.includes('openai') ? openAi.load() : null,
    providers.includes('workers-ai') ? workersAi.load() : null,
  ])
}
