import { createD1Connection } from './adapters/d1/connection'
import { createD1Dialect } from './adapters/d1/dialect'
import { createD1FullText } from './adapters/d1/full-text'
import { indexedFieldNames, type Migration, migrateD1 } from './adapters/d1/migrate'
import { createR2ImageStore } from './adapters/r2/image-store'
import { createSqlEntryStore } from './adapters/sql/entry-store'
import { createSqlIndexMaintenance } from './adapters/sql/index-maintenance'
import { createSqlOutbox } from './adapters/sql/outbox'
import type { Config } from './config'
import { createAnalyzer } from './domain/analysis'
import type { Log } from './http/log'
import type { Clock } from './ports/clock'
import { createMaintenance } from './services/maintenance'
import { createSearchText } from './services/search-text'
import type { Services } from './services/services'
import { createStoreEntries } from './services/store-entries'
import { createUpdateEntries } from './services/update-entries'

/** The one door between the house and its adapters: bindings and configuration to services. */
export interface Bindings {
  readonly DB: D1Database
  readonly IMAGES: R2Bucket
}

export interface Surroundings {
  readonly log: Log
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly clock?: Clock
}

const systemClock: Clock = { now: () => Date.now() }

/** Schemas that this isolate has seen up to date, so that a request pays for the check once. */
const migrated = new WeakMap<D1Database, Promise<void>>()

/** Brings the database to this Worker's schema; one query per isolate when it is there already. */
export async function prepareDatabase(
  { DB }: Bindings,
  config: Config,
  migrations: readonly Migration[],
): Promise<void> {
  let ready = migrated.get(DB)
  if (ready === undefined) {
    ready = migrateD1(DB, migrations, config.indexedFields)
    migrated.set(DB, ready)
    ready.catch(() => migrated.delete(DB))
  }
  await ready
}

export function composeServices(bindings: Bindings, config: Config, surroundings: Surroundings): Services {
  const { log, waitUntil, clock = systemClock } = surroundings
  const analyzer = createAnalyzer(config.fts.language)
  const connection = createD1Connection(bindings.DB, createD1Dialect(analyzer), (cost) =>
    log('DEBUG', 'sql', { ...cost }),
  )
  const entries = createSqlEntryStore(connection, analyzer, clock, indexedFieldNames(config.indexedFields))
  const fullText = createD1FullText(connection, analyzer, clock)
  const images = createR2ImageStore(bindings.IMAGES)
  const index = createSqlIndexMaintenance(connection, analyzer)
  const maintenance = createMaintenance({
    outbox: createSqlOutbox(connection, clock),
    images,
    index,
    clock,
    log: (event, fields) => log('WARNING', event, fields),
  })
  const limits = config.imageLimits
  return {
    storeEntries: createStoreEntries({ entries, images, limits }),
    updateEntries: createUpdateEntries({ entries, images, limits }),
    searchText: createSearchText({ fullText, entries, analyzer }),
    entries,
    images,
    fullText: { ...fullText, isCurrent: () => index.isCurrent() },
    maintenance,
    health: { database: connection.health, objects: images.health },
    afterwards: (work) =>
      waitUntil(work.catch((error: unknown) => log('WARNING', 'afterwards_failed', { message: String(error) }))),
    now: () => clock.now(),
  }
}
