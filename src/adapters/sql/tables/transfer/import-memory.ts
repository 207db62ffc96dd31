import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { NewId, Remembered } from '../../../../ports/import-store'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/rows'
import { changeable, visible, visibleState, wasChangeable } from '../../core/visibility'

/** Earlier imports: the ID here of each entry there. */

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
}

/** Whose rows of memory a scope's are. */
export const keeperOf = (scope: Scope): string => (scope.isWhole ? '' : (scope.owner ?? ''))

const wholeOf = ({ org }: Scope): Scope => ({ org, projects: null, owner: null, isWhole: true })

/** What stands, or stood, under each `i.entry_id`, and whether the scope may know of it. */
function recorded({ dialect, scope }: Context, from: SQL): SQL {
  return sql`SELECT i.their_id, i.owner, i.entry_id, i.version, i.at,
      e.org AS standing_org, e.version AS standing, e.updated_at,
      CASE WHEN e.id IS NOT NULL AND ${changeable(dialect, wholeOf(scope), 0)} THEN 0 ELSE 1 END AS pending_deletion,
      CASE WHEN e.id IS NOT NULL AND ${changeable(dialect, scope, 0)} THEN 1 ELSE 0 END AS mine,
      CASE WHEN e.id IS NOT NULL AND ${visible(dialect, scope, 0)} THEN 1 ELSE 0 END AS seen,
      (SELECT CASE WHEN ${wasChangeable(dialect, scope, 'v')} THEN 1 ELSE 0 END FROM entry_versions v
        WHERE v.entry_id = i.entry_id AND v.org = ${scope.org} ORDER BY v.version DESC LIMIT 1) AS was_mine,
      (SELECT max(v.ended_version) FROM entry_versions v WHERE v.entry_id = i.entry_id AND v.org = ${scope.org}) AS ended,
      (SELECT max(c.version) FROM changes c WHERE c.entry_id = i.entry_id AND c.org = ${scope.org}) AS changed
    FROM ${from} i ${dialect.plan.followLeft('entries', 'e', sql`e.id = i.entry_id`)}`
}

/** Memory of these ids of a store. */
export const memoryStatements = (context: Context, store: string, theirIds: readonly string[]): SQL[] =>
  jsonGroups(theirIds).map((json) => {
    const { dialect, scope } = context
    return recorded(
      context,
      sql`(SELECT m.* FROM imported m
        WHERE m.org = ${scope.org} AND m.store = ${store} AND m.their_id ${dialect.among(sql`${json}`)})`,
    )
  })

/** The same of the org's own store, whose ids are those of entries here. */
export const ownStatements = (context: Context, ids: readonly number[]): SQL[] =>
  jsonGroups(ids).map((json) =>
    recorded(
      context,
      sql`(SELECT CAST(value AS TEXT) AS their_id, NULL AS owner, CAST(value AS bigint) AS entry_id, NULL AS version, NULL AS at
        FROM ${context.dialect.jsonNumbers(sql`${json}`)} AS own)`,
    ),
  )

/**
 * Rows of the org's own store, those that count more first. An id there is its entry's, as it came in or as it is here; what came in under
 * it as another entry, since the scope knew of none, counts for whoever brought it, and where there still is none.
 */
export function ofOwnStore(rows: readonly Row[], scope: Scope): Row[] {
  const isItself = (row: Row) => String(row.entry_id) === String(row.their_id)
  return [...rows.filter(isItself), ...rows.filter((row) => !isItself(row) && row.owner === keeperOf(scope))]
}

/** Those of the images that the org uses, and whether something that the scope may read uses them (`seen`). */
export function imagesInUseStatement({ dialect, scope }: Context, now: Millis, hashes: readonly string[]): SQL {
  const shown = sql`EXISTS (SELECT 1 FROM entries e WHERE e.id = u.entry_id AND ${visible(dialect, scope, now)})
    OR EXISTS (SELECT 1 FROM entry_versions v WHERE v.id = -u.entry_id AND ${visibleState(dialect, scope, now)})`
  const seen = scope.isWhole ? sql`1` : sql`max(CASE WHEN ${shown} THEN 1 ELSE 0 END)`
  return sql`SELECT u.hash, ${seen} AS seen FROM image_uses u
    WHERE u.org = ${scope.org} AND u.hash ${dialect.among(sql`${JSON.stringify(hashes)}`)} GROUP BY u.hash`
}

/** @returns null for what the scope may know nothing of */
export function toRemembered(row: Row, scope: Scope): Remembered | null {
  const isOwn = row.version === null
  const stands = row.standing !== null && row.standing !== undefined
  const rememberedByMe = !isOwn && row.owner === keeperOf(scope)
  // What came from elsewhere is nobody's to know of who only reads it.
  const isReadOnly = isOwn && Number(row.mine) === 0 && Number(row.seen) === 1
  if (stands) {
    if (row.standing_org !== scope.org) return null
    const isPendingDeletion = Number(row.pending_deletion) === 1
    if (Number(row.mine) === 0 && !isReadOnly && !(isPendingDeletion && scope.isWhole)) return null
  } else {
    const known = row.was_mine === null ? rememberedByMe || scope.isWhole === true : Number(row.was_mine) === 1
    if (!known) return null
    // Of the own store only what was an entry of this org.
    if (isOwn && row.ended === null && row.changed === null) return null
  }
  return {
    entryId: Number(row.entry_id),
    version: isOwn ? null : Number(row.version),
    at: isOwn ? null : Number(row.at),
    standing: stands
      ? {
          version: Number(row.standing),
          updatedAt: Number(row.updated_at),
          isPendingDeletion: Number(row.pending_deletion) === 1,
          ...(isReadOnly ? { isReadOnly } : {}),
        }
      : null,
    last: Math.max(Number(row.ended ?? 0), Number(row.changed ?? 0)),
  }
}

/**
 * Gives ids, those that are wanted and free in the whole database first; each row's `their_id` and `entry_id`. An id that another request
 * with the same volume has given meanwhile, and under which the scope may change what it finds, is the one: so each entry is stored once.
 */
export function reserveStatements(
  { dialect, scope }: Context,
  store: string,
  rows: readonly NewId[],
): { readonly before: SQL[]; readonly given: SQL[]; readonly after: SQL[] } {
  const highest = Math.max(0, ...rows.map(({ wanted }) => wanted ?? 0))
  const free = sql`NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = r.wanted)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.entry_id = r.wanted)
    AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = r.wanted AND c.org <> ${scope.org})
    AND NOT EXISTS (SELECT 1 FROM links l WHERE l.to_id = r.wanted AND l.org <> ${scope.org})
    AND NOT EXISTS (SELECT 1 FROM imported m WHERE m.entry_id = r.wanted)`
  const isGiven = sql`(imported.version = 0 AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = imported.entry_id))
    OR EXISTS (SELECT 1 FROM entries e
      WHERE e.id = imported.entry_id AND e.org = ${scope.org} AND ${changeable(dialect, scope, 0)})`
  const given = (name: 'entry_id' | 'version' | 'at') =>
    sql`${sql.raw(name)} = CASE WHEN ${isGiven} THEN imported.${sql.raw(name)} ELSE excluded.${sql.raw(name)} END`
  const columns = { their_id: 'text', wanted: 'integer', place: 'integer' } as const
  const placed = rows.map(({ theirId, wanted }, i) => [theirId, wanted, i + 1])
  return {
    before: dialect.entryIds.raise(highest),
    given: jsonGroups(placed).map(
      (json) => sql`
        INSERT INTO imported (org, store, their_id, owner, entry_id, version, at)
        SELECT ${scope.org}, ${store}, r.their_id, ${keeperOf(scope)},
          CASE WHEN r.wanted IS NOT NULL AND ${free} THEN r.wanted ELSE ${dialect.entryIds.fresh(sql`r.place`)} END, 0, 0
        FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1
        ON CONFLICT (org, store, their_id, owner) DO UPDATE
          SET ${given('entry_id')}, ${given('version')}, ${given('at')}
        RETURNING their_id, entry_id`,
    ),
    after: dialect.entryIds.pass(rows.length),
  }
}
