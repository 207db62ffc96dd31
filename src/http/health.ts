import { Problem } from '../domain/errors'
import type { Services } from '../services/services'

interface Part {
  readonly backend: string
  /** False: calls go on without it. */
  readonly required?: boolean
  ping(): Promise<void>
}

/** As `/ready` shows a part: which backend it is, whether it answers, and what to do about it where that is known. */
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
    // The message of a Problem is made for whoever reads it; anything else is not.
    return { backend, ok: false, ...(error instanceof Problem && { problem: error.message }) }
  }
}

/**
 * Asks all parts at once.
 *
 * @returns each by its name, and whether every required one answers
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
/** A day and what a run of the schedule may be late. */
const FRESH_HOURS = 30

/** How old the last daily backup is, where a bucket for them is bound; whatever it is, the server is ready. */
export async function backupCheck({ transfer, now }: Pick<Services, 'transfer' | 'now'>) {
  if (!transfer.backups.isBound) return {}
  const at = await transfer.backedUpAt().catch(() => null)
  if (at === null) return { backups: { backend: 'r2', ok: false, problem: 'There is no complete daily backup yet' } }
  const hours = Math.floor((now() - at) / HOUR_MS)
  return { backups: { backend: 'r2', ok: hours <= FRESH_HOURS, at: new Date(at).toISOString(), age_hours: hours } }
}
