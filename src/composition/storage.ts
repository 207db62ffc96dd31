import { type BatchCost, createD1Connection } from '../adapters/d1/connection'
import { hosted, preparing, type StorageState, storageHost } from '../adapters/d1/hosted'
import { migrateD1 } from '../adapters/d1/migrate'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { createD1Dialect } from '../adapters/sqlite/dialect'
import { createD1FullText } from '../adapters/sqlite/full-text'
import { indexedFieldTypes, type Migration } from '../adapters/sqlite/migrations'
import { createObjectVectorIndex } from '../adapters/vector-object/index'
import type { Config } from '../config'
import { objectBytes } from '../domain/capacity'
import { Problem } from '../domain/errors'
import { modelKey } from '../domain/meaning/vector'
import { perObject } from '../domain/per-object'
import type { Analyzer } from '../domain/search/analysis'
import type { Log } from '../http/log'
import type { Clock } from '../ports/clock'
import type { EntryStore } from '../ports/entry-store'
import type { FullText } from '../ports/full-text'
import type { DatabaseHealth, Embedder, ObjectStoreHealth } from '../ports/models'
import type { Settings } from '../ports/settings'
import type { VectorIndex } from '../ports/vector-index'
import type { Bindings } from './isolate'
import { postgres, vectorize } from './modules'
import type { PostgresOptions } from './postgres'

/** Creates the configured database and vector index. */
export interface Storage {
  readonly connection: SqlConnection & { readonly health: DatabaseHealth }
  readonly fullText: FullText
  /** Wraps the store with work that the database needs after large batches. */
  readonly storing: (store: EntryStore, afterwards: (work: Promise<unknown>) => void) => EntryStore
  /** Closes the connections of a request after its work. */
  readonly close: () => Promise<void>
}

const d1Dialect = perObject((analyzer: Analyzer) => createD1Dialect(analyzer))
const postgresDialect = perObject((analyzer: Analyzer) => postgres.loaded().createPostgresDialect(analyzer))

/** D1 databases that this isolate has migrated, so that only its first request checks. */
const migrated = new WeakMap<D1Database, Promise<readonly string[]>>()

const storageStates = perObject((_: D1Database): StorageState => ({ fault: null }))

function postgresOptions({ HYPERDRIVE }: Bindings, config: Config): PostgresOptions {
  if (HYPERDRIVE === undefined)
    throw new Problem(
      'unavailable',
      'STORAGE_BACKEND is postgresql, but the HYPERDRIVE binding is missing. Add [[hyperdrive]] to wrangler.toml',
    )
  const { connectionString } = HYPERDRIVE
  return {
    connectionString,
    schema: config.postgresqlSchema,
    stream: postgres.loaded().workerSocketsTo(connectionString),
  }
}

function d1Of({ DB }: Bindings): D1Database {
  if (DB !== undefined) return DB
  throw new Problem(
    'unavailable',
    'The DB binding is missing. Add [[d1_databases]] to wrangler.toml, or set STORAGE_BACKEND',
  )
}

/**
 * Migrates D1 to the schema of this Worker, or checks the schema of PostgreSQL. One query per isolate if nothing has
 * changed.
 * @returns unknown migrations in the database, from a newer release
 */
export async function prepareDatabase(
  bindings: Bindings,
  config: Config,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  if (config.storageBackend === 'postgresql') {
    const names = migrations.map(({ name }) => name)
    return postgres.loaded().checkPostgresSchema(postgresOptions(bindings, config), names)
  }
  const DB = d1Of(bindings)
  let ready = migrated.get(DB)
  if (ready === undefined) {
    ready = preparing(storageHost(bindings.LOCAL_STORAGE), storageStates(DB), (isNew) =>
      migrateD1(DB, migrations, config.indexedFields, isNew),
    )
    migrated.set(DB, ready)
    ready.catch(() => migrated.delete(DB))
  }
  return ready
}

/**
 * Creates the connection and full-text search of the configured database. @throws Problem unavailable without its
 * binding
 */
export function chooseStorage(
  bindings: Bindings,
  config: Config,
  given: { readonly analyzer: Analyzer; readonly clock: Clock; readonly log: Log },
): Storage {
  const { analyzer, clock, log } = given
  if (config.storageBackend === 'postgresql') {
    const { analyzingGrown, createPostgresConnection, createPostgresFullText } = postgres.loaded()
    const connection = createPostgresConnection(postgresOptions(bindings, config), postgresDialect(analyzer), (cost) =>
      log('DEBUG', 'sql', { ...cost }),
    )
    const fullText = createPostgresFullText(connection, analyzer, clock)
    return {
      connection,
      fullText,
      storing: (store, afterwards) => analyzingGrown(store, connection, afterwards),
      close: () => connection.close(),
    }
  }
  const DB = d1Of(bindings)
  const observe = (cost: BatchCost) => log('DEBUG', 'sql', { ...cost })
  const bare = createD1Connection(DB, d1Dialect(analyzer), observe)
  const connection = hosted(bare, storageHost(bindings.LOCAL_STORAGE), storageStates(DB))
  const fullText = createD1FullText(connection, analyzer, clock, {
    indexedFields: indexedFieldTypes(config.indexedFields),
  })
  return { connection, fullText, storing: (store) => store, close: async () => {} }
}

/** The part of the composition that chooses the vector index. */

/** Creates the configured vector index. @throws Problem unavailable without its binding */
export function chooseIndex(
  bindings: Bindings,
  config: Config,
  given: { readonly connection: SqlConnection; readonly settings: Settings; readonly clock: Clock },
): VectorIndex {
  const { connection, settings, clock } = given
  const bytes = objectBytes(config.vectorMemoryMb)
  switch (config.vectorBackend) {
    case 'pgvector':
      return postgres.loaded().createPostgresVectorIndex(connection, {
        auxiliary: bindings.VECTORS === undefined ? null : createObjectVectorIndex(bindings.VECTORS, bytes),
      })
    case 'object':
      if (bindings.VECTORS === undefined)
        throw new Problem(
          'unavailable',
          'VECTOR_BACKEND is object, but the VECTORS binding is missing. Add the Durable Object to wrangler.toml',
        )
      return createObjectVectorIndex(bindings.VECTORS, bytes)
    case 'vectorize':
      if (bindings.VECTORIZE === undefined)
        throw new Problem(
          'unavailable',
          'VECTOR_BACKEND is vectorize, but the VECTORIZE binding is missing. Add [[vectorize]] to wrangler.toml',
        )
      return vectorize.loaded().createVectorizeIndex(bindings.VECTORIZE, settings, clock)
  }
}

/** The health check of the vector index; null without semantic search. */
export function vectorHealth(index: VectorIndex, embedder: Embedder | null): ObjectStoreHealth | null {
  if (embedder === null) return null
  const space = { org: 'ready', model: modelKey(embedder), dimensions: embedder.dimensions }
  return { backend: index.backend, ping: async () => void (await index.state(space)) }
}
