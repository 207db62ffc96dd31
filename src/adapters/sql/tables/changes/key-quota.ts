// The quota of a key: entries that it stores a day, counted in the batch of each write.

import { type SQL, sql } from 'drizzle-orm'
import type { Problem } from '../../../../domain/errors'
import { keyQuotaProblem, NEARLY_USED } from '../../../../domain/identity/key-limits'
import type { Caller } from '../../../../domain/identity/scope'
import { DAY_MS, type Millis } from '../../../../domain/time'
import { runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { firstRow, num } from '../../core/rows'
import { changedSince } from './change-rows'

/** The name of the precondition. */
export const KEY_QUOTA = 'key_quota'

const dayOf = (now: Millis): number => Math.floor(now / DAY_MS)

/**
 * Returns the statements at the end of a write: they count its new entries and refuse the batch above the quota. None for a key without
 * a quota. A write without new entries passes. The day never goes back, so that isolates whose clocks differ share one count at midnight.
 */
export function keyQuotaGuards(dialect: SqlDialect, caller: Caller, since: SQL, now: Millis): SQL[] {
  const { org, limits } = caller
  if (limits === undefined || limits.entriesPerDay === null) return []
  const stored = sql`FROM changes c WHERE ${changedSince(dialect, org, since)} AND c.action = 'store'`
  const row = sql`u.org = ${org} AND u.key_id = ${limits.countedAs}`
  return [
    sql`INSERT INTO key_stored_entries AS u (org, key_id, day, entries)
      SELECT ${org}, ${limits.countedAs}, ${dayOf(now)}, count(*) ${stored} HAVING count(*) > 0
      ON CONFLICT (org, key_id) DO UPDATE SET
        entries = excluded.entries + CASE WHEN u.day >= excluded.day THEN u.entries ELSE 0 END,
        day = CASE WHEN u.day >= excluded.day THEN u.day ELSE excluded.day END`,
    sql`INSERT INTO guards (holds, precondition)
      SELECT NOT EXISTS (SELECT 1 ${stored})
        OR NOT EXISTS (SELECT 1 FROM key_stored_entries u WHERE ${row} AND u.entries > ${limits.entriesPerDay}), ${KEY_QUOTA}`,
  ]
}

/** Returns the entries that a key stored today, for columns of `api_keys` under an alias. */
export const storedToday = (key: string, now: Millis): SQL => sql`coalesce((
  SELECT u.entries FROM key_stored_entries u
  WHERE u.org = ${sql.raw(key)}.org AND u.key_id = coalesce(${sql.raw(key)}.counted_as, ${sql.raw(key)}.id) AND u.day >= ${dayOf(now)}), 0)`

/** Selects usable keys `k` that have stored most of their quota today, with their count `u`; a condition may follow. */
export function nearQuota(now: Millis): SQL {
  const [part, whole] = NEARLY_USED
  return sql`FROM key_stored_entries u JOIN api_keys k ON k.org = u.org AND coalesce(k.counted_as, k.id) = u.key_id
    WHERE u.day >= ${dayOf(now)} AND u.entries * ${sql.raw(String(whole))} >= k.max_entries * ${sql.raw(String(part))}
      AND k.revoked_at IS NULL AND coalesce(k.expires_at, ${now + 1}) > ${now}`
}

/** Returns the error of a write that `keyQuotaGuards` refused. */
export async function refusedByKeyQuota(connection: SqlConnection, caller: Caller, now: Millis): Promise<Problem> {
  const { org, limits, keyId } = caller
  const stored = await runOne(
    connection,
    sql`SELECT u.entries FROM key_stored_entries u
      WHERE u.org = ${org} AND u.key_id = ${limits?.countedAs ?? keyId} AND u.day >= ${dayOf(now)}`,
    firstRow((row) => num(row, 'entries')),
  )
  return keyQuotaProblem({ limit: limits?.entriesPerDay ?? 0, stored: stored ?? 0, keyId, now })
}
