// Which rows of what hooks left are old? Each round looks at the next of a table, in the order of its key: an index by time would be
// written by every event, while the tables are gone through once a day.
import { type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../../../domain/time'
import { readOne, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { each, howMany, num, str } from '../../core/rows'

/** Rows that one round looks at. */
const LOOKED_THROUGH = 1_000

interface Table {
  readonly name: string
  /** Its third column; the first two are org and owner. */
  readonly key: string
  readonly isOld: SQL
}

/** The start of a round: a table, and a key after which it continues. */
const toCursor = (cursor: string | null): [table?: number, ...key: string[]] =>
  cursor === null ? [] : JSON.parse(cursor)

/** The next rows of a table, and of them the old ones. */
async function partOf(connection: SqlConnection, { name, key, isOld }: Table, behind: readonly string[]) {
  const places = sql.join(
    behind.map((one) => sql`${one}`),
    sql`, `,
  )
  const beyond = behind.length === 0 ? sql`` : sql`WHERE (org, owner, ${sql.raw(key)}) > (${places})`
  const rows = await readOne(
    connection,
    sql`SELECT org, owner, ${sql.raw(key)} AS name, CASE WHEN ${isOld} THEN 1 ELSE 0 END AS is_old
      FROM ${sql.raw(name)} ${beyond}
      ORDER BY org, owner, ${sql.raw(key)} LIMIT ${sql.raw(String(LOOKED_THROUGH))}`,
    each((row) => ({ id: [str(row, 'org'), str(row, 'owner'), str(row, 'name')], isOld: num(row, 'is_old') === 1 })),
  )
  return {
    old: rows.flatMap((row) => (row.isOld ? [row.id] : [])),
    last: rows.length < LOOKED_THROUGH ? null : (rows.at(-1)?.id ?? null),
  }
}

/** Forgets those that are old; what arrived again meanwhile stays. @returns how many rows went */
async function remove(connection: SqlConnection, { name, key, isOld }: Table, old: readonly string[][]) {
  if (old.length === 0) return 0
  const columns = { org: 'text', owner: 'text', name: 'text' } as const
  const given = connection.dialect.jsonTable(sql`${JSON.stringify(old)}`, columns)
  return runOne(
    connection,
    sql`DELETE FROM ${sql.raw(name)}
      WHERE (org, owner, ${sql.raw(key)}) IN (SELECT given.org, given.owner, given.name FROM ${given} given) AND ${isOld}
      RETURNING org`,
    howMany,
    'all',
  )
}

/** A round of it, as `CaptureStore.forget`. */
export async function forgetRound(
  connection: SqlConnection,
  { events, sessions, uses }: { readonly events: Millis; readonly sessions: Millis; readonly uses: Millis },
  cursor: string | null,
): Promise<{ readonly gone: number; readonly next: string | null }> {
  const tables: readonly Table[] = [
    { name: 'capture_events', key: 'id', isOld: sql`at < ${events}` },
    { name: 'capture_start_digests', key: 'place', isOld: sql`at < ${sessions}` },
    { name: 'session_memories', key: 'session', isOld: sql`at < ${uses}` },
    // What is still to be written stays.
    { name: 'capture_sessions', key: 'session', isOld: sql`seen_at < ${sessions} AND due_at IS NULL` },
  ]
  const [first = 0, ...behind] = toCursor(cursor)
  const table = tables[first]
  if (table === undefined) return { gone: 0, next: null }
  const { old, last } = await partOf(connection, table, behind)
  const gone = await remove(connection, table, old)
  const next = last ? [first, ...last] : first + 1 < tables.length ? [first + 1] : null
  return { gone, next: next && JSON.stringify(next) }
}
