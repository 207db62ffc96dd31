import { Problem } from '../domain/errors'
import type { Services } from '../services/services'

interface Part {
  readonly backend: string
  /** False: the server works without it. */
  readonly required?: boolean
  ping(): Promise<void>
}

/** A part as `/ready` shows it: its backend, whether it responds, and how to fix it where that is known. */
export interface Check {
  readonly backend: string
  readonly ok: boolean
  readonly problem?: string
}

async function check({ backend, ping }: Part): Promise<Check> {
  try {
    await ping()
    return { backend, ok: true }
  } catch (error) {
    // The message of a Problem is written for the user; other messages are not.
    return { backend, ok: false, ...(error instanceof Problem && { problem: error.message }) }
  }
}

/**
 * Checks all parts at once.
 *
 * @returns each by its name, and whether every required one responds
 */
export async function checkParts({
  database,
  objects,
  vectors,
  models,
}: Services['health']): Promise<{ checks: Record<string, Check>; ready: boolean }> {
  const parts: Record<string, Part> = { database, images: objects, ...(vectors && { vectors }), ...models }
  const checks = await Promise.all(
    Object.entries(parts).map(async ([name, part]) => [name, await check(part)] as const),
  )
  const ready = checks.every(([name, { ok }]) => ok || parts[name]?.required === false)
  return { checks: Object.fromEntries(checks), ready }
}

const HOUR_MS = 3_600_000
/** A day and the possible delay of a scheduled run. */
const FRESH_HOURS = 30

/** Age of the last daily backup, where a bucket for backups is bound. It does not affect readiness. */
export async function backupCheck({ transfer, now }: Pick<Services, 'transfer' | 'now'>) {
  if (!transfer.backups.isBound) return {}
  const at = await transfer.backupRun().then(
    ({ finishedAt }) => finishedAt,
    () => null,
  )
  if (at === null) return { backups: { backend: 'r2', ok: false, problem: 'No complete daily backup exists yet' } }
  const hours = Math.floor((now() - at) / HOUR_MS)
  return { backups: { backend: 'r2', ok: hours <= FRESH_HOURS, at: new Date(at).toISOString(), age_hours: hours } }
}
