import { type BatchCost, createD1Connection } from '../adapters/d1/connection'
import { hosted, preparing, type StorageState, storageHost } from '../adapters/d1/hosted'
import { migrateD1 } from '../adapters/d1/migrate'
import { createPostgresConnection, type PostgresOptions } from '../adapters/postgres/connection'
import { createPostgresDialect } from '../adapters/postgres/dialect'
import { createPostgresFullText } from '../adapters/postgres/full-text'
import { analyzingGrown, checkPostgresSchema } from '../adapters/postgres/schema'
import { createPostgresVectorIndex } from '../adapters/postgres/vector-index'
import { workerSocketsTo } from '../adapters/postgres/worker-socket'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { createD1Dialect } from '../adapters/sqlite/dialect'
import { createD1FullText } from '../adapters/sqlite/full-text'
import { indexedFieldTypes, type Migration } from '../adapters/sqlite/migrations'
import { createObjectVectorIndex } from '../adapters/vector-object/index'
import { createVectorizeIndex } from '../adapters/vectorize/index'
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

/** The part of compose.ts that chooses databases and vector indexes. */
export interface Storage {
  readonly connection: SqlConnection & { readonly health: DatabaseHealth }
  readonly fullText: FullText
  /** The store, with what this database wants done after large batches. */
  readonly storing: (store: EntryStore, afterwards: (work: Promise<unknown>) => void) => EntryStore
  /** Lets go of what the request held, once its work is done. */
  readonly close: () => Promise<void>
}

const d1Dialect = perObject((analyzer: Analyzer) => createD1Dialect(analyzer))
const postgresDialect = perObject(createPostgresDialect)

/** D1 databases that this isolate has seen up to date, so that a request pays for the check once. */
const migrated = new WeakMap<D1Database, Promise<readonly string[]>>()

const storageStates = perObject((_: D1Database): StorageState => ({ fault: null }))

function postgresOptions({ HYPERDRIVE }: Bindings, config: Config): PostgresOptions {
  if (HYPERDRIVE === undefined)
    throw new Problem(
      'unavailable',
      'STORAGE_BACKEND is postgresql, but there is no HYPERDRIVE binding; add [[hyperdrive]] to wrangler.toml',
    )
  const { connectionString } = HYPERDRIVE
  return { connectionString, schema: config.postgresqlSchema, stream: workerSocketsTo(connectionString) }
}

function d1Of({ DB }: Bindings): D1Database {
  if (DB !== undefined) return DB
  throw new Problem(
    'unavailable',
    'There is no DB binding; add [[d1_databases]] to wrangler.toml, or set STORAGE_BACKEND',
  )
}

/**
 * Brings D1 to this Worker's schema, or makes sure that PostgreSQL is there; one query per isolate when it is.
 *
 * @returns migrations of the database that this Worker does not know: a newer release was here
 */
export async function prepareDatabase(
  bindings: Bindings,
  config: Config,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  if (config.storageBackend === 'postgresql') {
    const names = migrations.map(({ name }) => name)
    return checkPostgresSchema(postgresOptions(bindings, config), names)
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

/** @throws Problem unavailable when the chosen database lacks its binding */
export function chooseStorage(
  bindings: Bindings,
  config: Config,
  given: { readonly analyzer: Analyzer; readonly clock: Clock; readonly log: Log },
): Storage {
  const { analyzer, clock, log } = given
  if (config.storageBackend === 'postgresql') {
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
        auxiliary: bindings.VECTORS === undefined ? null : createObjectVectorIndex(bindings.VECTORS, bytes),
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
