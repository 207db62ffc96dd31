import { createR2BackupStore } from '../adapters/r2/backup-store'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlIdentityStore } from '../adapters/sql/stores/identity/identity-store'
import { createSqlScheduleJournal } from '../adapters/sql/stores/maintenance/schedule-journal'
import { createSqlExportStore } from '../adapters/sql/stores/transfer/export-store'
import { createSqlImportStore } from '../adapters/sql/stores/transfer/import-store'
import type { Config } from '../config'
import type { WriteLimits } from '../domain/entry/draft'
import { createCursorSeal } from '../domain/history/cursor'
import { modelKey } from '../domain/meaning/vector'
import type { Analyzer } from '../domain/search/analysis'
import { BACKUP_STEP } from '../domain/transfer/backup-age'
import { createTextSeal } from '../domain/transfer/seal'
import type { Clock } from '../ports/clock'
import type { EntryStore } from '../ports/entry-store'
import type { Ids } from '../ports/ids'
import type { ImageStore } from '../ports/image-store'
import type { Embedder } from '../ports/models'
import type { Settings } from '../ports/settings'
import type { ResolveNames } from '../services/people/project-names'
import { createBackups } from '../services/transfer/backups'
import { createExportOrg } from '../services/transfer/export-org'
import { createImportVolume } from '../services/transfer/import-volume'
import { createStoreProposals } from '../services/transfer/store-proposals'
import type { Transfer } from '../services/transfer/transfer'
import type { Generate } from '../services/writing/entries/generate'
import type { Bindings } from './isolate'

const EXPORT_SECRET = 'feed_secret'

/** Wires exports, imports and backups. */
export function composeTransfer(
  config: Config,
  { BACKUP_BUCKET: bucket }: Pick<Bindings, 'BACKUP_BUCKET'>,
  given: {
    readonly connection: SqlConnection
    readonly settings: Settings
    readonly images: ImageStore
    readonly entries: EntryStore
    readonly limits: WriteLimits
    readonly embedder: Embedder | null
    /** Creates vectors during the import; null where background work creates them. */
    readonly generate: Generate | null
    readonly analyzer: Analyzer
    readonly clock: Clock
    readonly ids: Ids
    readonly names: ResolveNames
  },
): Transfer {
  const { connection, settings, images, entries, limits, embedder, generate, analyzer, clock, ids } = given
  const store = createSqlExportStore(connection, clock, ids)
  const terms = config.history
  let secret: Promise<string> | null = null
  const known = () => {
    secret ??= settings.read(EXPORT_SECRET).then((value) => {
      if (value === null) throw new Error(`the setting ${EXPORT_SECRET} is missing`)
      return value
    })
    return secret
  }
  const places = async () => createTextSeal(await known())
  const exports = createExportOrg({
    ...{ store, images, clock },
    cursors: async () => createCursorSeal(await known()),
    places,
  })
  const imports = createSqlImportStore(connection, { analyzer, clock, quotas: config.quotas, terms })
  const identity = createSqlIdentityStore(connection, clock)
  const backups = createBackups({
    store: bucket === undefined ? null : createR2BackupStore(bucket),
    // The organization of open mode is not stored.
    orgs: async () => [
      ...new Set([...(await identity.orgs()).map(({ id }) => id), ...(config.authMode === 'open' ? ['local'] : [])]),
    ],
    ...{ exports, images, imports, places, clock, keep: config.backupKeep },
  })
  const journal = createSqlScheduleJournal(connection)
  const importVolume = createImportVolume({
    ...{ imports, exports: store, images, entries, limits, generate, terms, clock },
    names: given.names,
    spare: backups.image,
    redact: config.redact,
    model: embedder === null ? null : { key: modelKey(embedder), dimensions: embedder.dimensions },
  })
  return {
    exports,
    imports: importVolume,
    propose: createStoreProposals({ imports: importVolume, clock }),
    backups,
    async backupRun() {
      const {
        finishedAt = null,
        failures = 0,
        lastError = null,
        cursor = null,
      } = (await journal.read()).get(BACKUP_STEP) ?? {}
      return { finishedAt, failures, lastError, isRunning: cursor !== null }
    },
  }
}
