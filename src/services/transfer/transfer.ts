import type { BackupRun } from '../../domain/transfer/backup-age'
import type { Backups } from './backups'
import type { ExportOrg } from './export-org'
import type { ImportVolume } from './import-volume'
import type { StoreProposals } from './store-proposals'

/** Exports, imports and backups of organizations (docs/contracts/operate.md §2). */
export interface Transfer {
  readonly exports: ExportOrg
  readonly imports: ImportVolume
  /** Stores proposals of a program, which wait for review. */
  readonly propose: StoreProposals
  readonly backups: Backups
  /** Returns the state of the daily backups of all organizations. */
  readonly backupRun: () => Promise<BackupRun>
}
