import { createPostgresVectorIndex } from '../adapters/postgres/vector-index'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { createObjectVectorIndex } from '../adapters/vector-object'
import { createVectorizeIndex } from '../adapters/vectorize'
import type { Config } from '../config'
import { objectBytes } from '../domain/capacity'
import { Problem } from '../domain/errors'
import { modelKey } from '../domain/meaning/vector'
import type { Clock } from '../ports/clock'
import type { Embedder } from '../ports/embedder'
import type { ObjectStoreHealth } from '../ports/health'
import type { Settings } from '../ports/settings'
import type { VectorIndex } from '../ports/vector-index'
import type { Bindings } from './bindings'

/** The part of the composition that chooses the vector index. */

/** @throws Problem unavailable when the chosen index lacks its binding */
export function chooseIndex(
  bindings: Bindings,
  config: Config,
  given: { readonly connection: SqlConnection; readonly settings: Settings; readonly clock: Clock },
): VectorIndex {
  const { connection, settings, clock } = given
  const bytes = objectBytes(config.vectorMemoryMb)
  switch (config.vectorBackend) {
    case 'pgvector':
      return createPostgresVectorIndex(connection, {
        beside: bindings.VECTORS === undefined ? null : createObjectVectorIndex(bindings.VECTORS, bytes),
      })
    case 'object':
      if (bindings.VECTORS === undefined)
        throw new Problem(
          'unavailable',
          'VECTOR_BACKEND is object, but there is no VECTORS binding; add the Durable Object to wrangler.toml',
        )
      return createObjectVectorIndex(bindings.VECTORS, bytes)
    case 'vectorize':
      if (bindings.VECTORIZE === undefined)
        throw new Problem(
          'unavailable',
          'VECTOR_BACKEND is vectorize, but there is no VECTORIZE binding; add [[vectorize]] to wrangler.toml',
        )
      return createVectorizeIndex(bindings.VECTORIZE, settings, clock)
  }
}

/** Whether the vector index answers; null when nothing uses it. */
export function vectorHealth(index: VectorIndex, embedder: Embedder | null): ObjectStoreHealth | null {
  if (embedder === null) return null
  const space = { org: 'ready', model: modelKey(embedder), dimensions: embedder.dimensions }
  return { backend: index.backend, ping: async () => void (await index.state(space)) }
}
