// When do erased words leave an index that keeps them until its parts are written anew? As work of the outbox, some time behind the
// erasure, so that many erasures need it once.

import { type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../../../domain/time'

/** The key of such work where it has not been begun. */
export const ERASED = 'erased'
/** How long further erasures are waited for. */
export const GATHERED_MS = 60_000

/** @param orgs a query of the `org` whose work it is, or of none */
export const queueForgetting = (orgs: SQL, dueAt: Millis, key: typeof ERASED | 'begun' = ERASED): SQL => sql`
  INSERT INTO outbox (org, topic, key, created_at, due_at)
  SELECT work.org, 'words', ${key}, ${dueAt}, ${dueAt} FROM (${orgs}) work WHERE true
  ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', attempts = 0, due_at = excluded.due_at`
