import { type SQL, sql } from 'drizzle-orm'
import type { EntryVersion, NewEntry } from '../../../../domain/entry/entry-write'
import type { Caller } from '../../../../domain/identity/scope'
import { WORKING_CAPACITY } from '../../../../domain/recall/layers'
import type { Millis } from '../../../../domain/time'
import type { Decode } from '../../core/batch'
import type { SqlDialect } from '../../core/dialect'
import { flag, num } from '../../core/rows'
import { accessScope, listedToChange } from '../../core/visibility'
import { auditStoredStatement } from './audit-statements'
import { changesOf, NEWEST_FIRST } from './change-rows'

interface WriteContext {
  readonly dialect: SqlDialect
  readonly scope: Caller
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Side effects of storing a memory: it evicts others, or replaces those that it summarizes. */

/**
 * Evicts entries of a project beyond the capacity of layer 1: unpinned ones, least recently stored or read first, captured ones before all
 * others, never entries of this batch. All readers share one capacity; `visible` marks the IDs that the caller may see.
 */
function evictStatement({ dialect, scope, now }: WriteContext, project: string | null): SQL {
  const ofProject = project === null ? sql`e.project IS NULL` : sql`e.project = ${project}`
  const working = sql`e.org = ${scope.org} AND ${ofProject} AND e.layer = 1 AND e.listed = 1
    AND (e.expires_at IS NULL OR e.expires_at > ${now})`
  const capacity = sql.raw(String(WORKING_CAPACITY))
  const newest = sql`(SELECT c.entry_id FROM ${changesOf(scope.org)} ${NEWEST_FIRST} LIMIT 1)`
  return sql`
    DELETE FROM entries WHERE id IN (
      SELECT e.id FROM entries e
      WHERE ${working} AND e.pinned = 0 AND e.id <> ${newest}
      ORDER BY CASE WHEN ${dialect.textAt(['source'])} = 'system_auto' THEN 0 ELSE 1 END,
        coalesce(e.accessed_at, e.created_at), e.id
      LIMIT (SELECT CASE WHEN count(*) > ${capacity} THEN count(*) - ${capacity} ELSE 0 END FROM entries e WHERE ${working})
    ) RETURNING id, CASE WHEN ${accessScope(dialect, scope, 'entries')} THEN 1 ELSE 0 END AS visible`
}

/**
 * Returns a precondition that all summarized entries are unchanged since they were read, unpinned, listed, and may be changed by the
 * caller.
 */
function digestGuards({ dialect, scope, now }: WriteContext, originals: readonly EntryVersion[]): SQL[] {
  if (originals.length === 0) return []
  const expected = JSON.stringify(originals.map(({ id, version }) => [id, version]))
  return [
    sql`INSERT INTO guards (holds) SELECT (SELECT count(*)
      FROM ${dialect.jsonTable(sql`${expected}`, { id: 'integer', version: 'integer' })} expected
        ${dialect.plan.follow('entries', 'e', sql`e.id = expected.id`)}
      WHERE e.version = expected.version AND e.pinned = 0 AND ${listedToChange(dialect, scope, now)}
    ) = ${originals.length}`,
  ]
}

/** Links the entry that `row` selects to the entries that it summarizes. */
export function digestLinks({ dialect }: WriteContext, originals: readonly EntryVersion[], row: SQL): SQL[] {
  if (originals.length === 0) return []
  const ids = dialect.jsonNumbers(sql`${JSON.stringify(originals.map(({ id }) => id))}`)
  return [
    sql`INSERT INTO links (org, from_id, relation, to_id, origin)
      SELECT e.org, e.id, 'derived_from', original.value, 'system'
      FROM ${ids} original ${dialect.plan.follow('entries', 'e', row)}
      ON CONFLICT DO NOTHING`,
  ]
}

/** Archives entries; they can still be read by ID. */
const archiveStatements = ({ dialect, scope }: WriteContext, ids: readonly number[]): SQL[] =>
  ids.length === 0
    ? []
    : [
        sql`UPDATE entries SET archived = 1
          WHERE ${dialect.plan.filterOnly(sql`org = ${scope.org}`)}
            AND id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} original`)}`,
      ]

/** Side effects of a batch that stores entries. */
interface StoreSideEffects {
  readonly before: readonly SQL[]
  /**
   * Evicts entries of layer 1, when the newest rows of `changes` are those of the stored entries (`toEvicted`); null if not needed.
   */
  readonly evict: SQL | null
  readonly after: readonly SQL[]
}

/** Returns the evicted IDs that the caller could see. */
export const toEvicted: Decode<number[]> = (rows) =>
  rows.filter((row) => flag(row, 'visible')).map((row) => num(row, 'id'))

/** Returns all side effects: deduplication, eviction in layer 1, archiving of summarized entries, and the audit row. */
export function storeSideEffects(
  context: WriteContext,
  entries: readonly NewEntry[],
  met: readonly SQL[],
): StoreSideEffects {
  const { dialect, scope, now } = context
  const working = entries.find(({ layer }) => layer === 1)
  const digested = entries.flatMap(({ digestOf = [] }) => digestOf)
  const archived = digested.map(({ id }) => id)
  const evicting = working !== undefined
  return {
    before: [...met, ...digestGuards(context, digested)],
    evict: evicting ? evictStatement(context, working.lifted.project) : null,
    after: [
      ...(entries.length === 0
        ? []
        : [auditStoredStatement(scope, now, dialect, { count: entries.length, evicting, archived })]),
      ...archiveStatements(context, archived),
    ],
  }
}
