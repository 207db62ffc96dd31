import { DAY_MS } from '../../domain/time'
import { BACKUP_STEP } from '../../domain/transfer/backup-age'
import type { Step } from '../maintenance/schedule'
import type { Backups } from './backups'

/** Steps of one run. Each executes some dozens of statements and bucket requests; an invocation may make 1,000. */
export const BACKUP_ROUNDS = 4

/** Returns the daily backup step of the schedule. @param backups called when a step runs */
export const backupStep = (backups: () => Pick<Backups, 'round'>): Step => ({
  name: BACKUP_STEP,
  every: DAY_MS,
  daily: true,
  rounds: BACKUP_ROUNDS,
  round: (cursor) => backups().round(cursor),
})
