import { type SQL, sql } from 'drizzle-orm'
import type { Sight } from '../../../../domain/history/feed'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { changedSince, OLDEST_FIRST } from './change-rows'
import { SIGHT_COLUMNS, toSight } from './sight'
import { endingOf } from './writing'

/** Changes of one batch that are told one by one; of more it is said that there were many. */
const MOST = 64
/** Of work on all orgs, of which each hears its own. */
const MOST_OF_ALL = 1000

/** @param sights null for more than could be told */
export type Announce = (org: string, sights: readonly Sight[] | null) => void

/** What the batch has changed so far, as far as anybody may see it. */
const madeStatement = (dialect: SqlDialect, { org, since }: { readonly org: string; readonly since: SQL }): SQL => sql`
  SELECT c.org, ${SIGHT_COLUMNS} FROM changes c
  WHERE ${org === '' ? sql`c.seq > ${since}` : changedSince(dialect, org, since)}
    AND (c.reader IS NOT NULL OR c.was_reader IS NOT NULL)
  ${org === '' ? sql`ORDER BY c.seq` : OLDEST_FIRST} LIMIT ${org === '' ? MOST_OF_ALL : MOST + 1}`

function announceAll(rows: readonly Row[], announce: Announce): void {
  for (const [org, own] of Map.groupBy(rows, (row) => row.org as string))
    announce(org, own.length > MOST ? null : own.map(toSight))
}

/**
 * A connection that tells what the batches which write entries have changed, once they are committed: what they did is read
 * by one more statement of the same batch.
 */
export const announcing = <Connection extends SqlConnection>(
  connection: Connection,
  announce: Announce,
): Connection => ({
  ...connection,
  async batch(statements, lock) {
    const at = statements.findIndex((statement) => endingOf(statement) !== null)
    const ending = at < 0 ? null : endingOf(statements[at] as SQL)
    if (ending === null) return connection.batch(statements, lock)
    const rows = await connection.batch(statements.toSpliced(at, 0, madeStatement(connection.dialect, ending)), lock)
    announceAll(rows[at] ?? [], announce)
    return rows.toSpliced(at, 1)
  },
})
