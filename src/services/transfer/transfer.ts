import type { Backups } from './backups'
import type { ExportOrg } from './export-org'
import type { ImportVolume } from './import-volume'

/** Moving orgs (docs/contracts/operate.md §2). */
export interface Transfer {
  readonly exports: ExportOrg
  readonly imports: ImportVolume
  readonly backups: Backups
  /** When the last daily backup came to its end, in milliseconds since 1970; null for never, and where there is no bucket. */
  readonly backedUpAt: () => Promise<number | null>
}
