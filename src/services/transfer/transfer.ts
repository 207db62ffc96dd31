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
  /** End of the last daily backup in milliseconds since 1970; null for none. */
  readonly backedUpAt: () => Promise<number | null>
}
