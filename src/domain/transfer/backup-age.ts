import { DAY_MS, HOUR_MS, type Millis } from '../time'

/** The name of the schedule step that makes the daily backups. */
export const BACKUP_STEP = 'backup'

/** Age from which the last daily backup is reported. */
export const BACKUP_LATE_MS = 2 * DAY_MS

/** Failures in a row from which a first backup that never completed is reported; the schedule tries every 5 minutes. */
export const FIRST_BACKUP_FAILURES = 12

/** The state of the daily backups of all organizations. */
export interface BackupRun {
  /** When the last one completed; null for never. */
  readonly finishedAt: Millis | null
  /** Whether one is in progress. */
  readonly isRunning: boolean
  /** Failures since the last success, and the message of the last one. */
  readonly failures: number
  readonly lastError: string | null
}

/** Returns whether an operator should know that backups are missing. */
export const isBackupLate = ({ finishedAt, failures }: BackupRun, now: Millis): boolean =>
  finishedAt === null ? failures >= FIRST_BACKUP_FAILURES : now - finishedAt > BACKUP_LATE_MS

/** Returns the complete hours since the last backup; null without one. */
export const backupHours = ({ finishedAt }: Pick<BackupRun, 'finishedAt'>, now: Millis): number | null =>
  finishedAt === null ? null : Math.floor((now - finishedAt) / HOUR_MS)

/** Returns when the schedule makes the next backup: in the first run of the next UTC day. */
export const nextBackupAt = ({ finishedAt, isRunning }: BackupRun, now: Millis): Millis =>
  finishedAt === null || isRunning || Math.floor(finishedAt / DAY_MS) < Math.floor(now / DAY_MS)
    ? now
    : (Math.floor(now / DAY_MS) + 1) * DAY_MS
