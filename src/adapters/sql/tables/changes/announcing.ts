import { type SQL, sql } from 'drizzle-orm'
import type { Sight } from '../../../../domain/history/feed'
import type { Decode } from '../../core/batch'
import type { Announce } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { str } from '../../core/rows'
import { changedSince, OLDEST_FIRST } from './change-rows'
import { SIGHT_COLUMNS, toSight } from './sight'

/** Changes of one batch that are told one by one; of more it is said that there were many. */
const MAX_ANNOUNCED = 64

/**
 * What the batch has changed so far, as far as anybody may see it.
 *
 * @param org whose rows of `changes`; '' for those of all orgs
 */
export const madeStatement = (dialect: SqlDialect, org: string, since: SQL): SQL => sql`
  SELECT c.org, ${SIGHT_COLUMNS} FROM changes c
  WHERE ${changedSince(dialect, org, since)}
    AND (c.reader IS NOT NULL OR c.was_reader IS NOT NULL)
  ${OLDEST_FIRST} LIMIT ${MAX_ANNOUNCED + 1}`

type Made = ReadonlyMap<string, readonly Sight[]>

/** What each org is to hear. */
export const toMade: Decode<Made> = (rows) =>
  new Map([...Map.groupBy(rows, (row) => str(row, 'org'))].map(([org, own]) => [org, own.map(toSight)]))

export function announceAll(made: Made, announce: Announce): void {
  for (const [org, sights] of made) announce(org, sights.length > MAX_ANNOUNCED ? null : sights)
}
