import type { Config } from '../config'
import { deferred } from '../domain/deferred'
import { loadStemmer } from '../domain/search/analysis'

export const postgres = deferred(() => import('./postgres'))
export const vectorize = deferred(() => import('../adapters/vectorize/index'))

/** Loads the modules that a configuration needs, before its services are composed. */
export async function loadModules({ fts, storageBackend, vectorBackend }: Config): Promise<void> {
  const usesPostgres = storageBackend === 'postgresql' || vectorBackend === 'pgvector'
  await Promise.all([
    loadStemmer(fts.language),
    usesPostgres ? postgres.load() : null,
    vectorBackend === 'vectorize' ? vectorize.load() : null,
  ])
}
