import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { NewId, Remembered } from '../../../../ports/import-store'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/rows'
import { changeable, visible, visibleState, wasChangeable } from '../../core/visibility'

/** Records of earlier imports: the ID here of each entry there. */

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
}

/** Returns the owner of the records that a scope uses. */
export const keeperOf = (scope: Scope): string => (scope.isWhole ? '' : (scope.owner ?? ''))

const wholeOf = ({ org }: Scope): Scope => ({ org, projects: null, owner: null, isWhole: true })

/** Returns what exists, or existed, under each `i.entry_id`, and whether the scope may know about it. */
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

/** Returns the records of these IDs of a store. */
export const memoryStatements = (context: Context, store: string, theirIds: readonly string[]): SQL[] =>
  jsonGroups(theirIds).map((json) => {
    const { dialect, scope } = context
    return recorded(
      context,
      sql`(SELECT m.* FROM imported m
        WHERE m.org = ${scope.org} AND m.store = ${store} AND m.their_id ${dialect.inList(sql`${json}`)})`,
    )
  })

/** Returns the same for the organization's own store, whose IDs are those of entries here. */
export const ownStatements = (context: Context, ids: readonly number[]): SQL[] =>
  jsonGroups(ids).map((json) =>
    recorded(
      context,
      sql`(SELECT CAST(value AS TEXT) AS their_id, NULL AS owner, CAST(value AS bigint) AS entry_id, NULL AS version, NULL AS at
        FROM ${context.dialect.jsonNumbers(sql`${json}`)} AS own)`,
    ),
  )

/**
 * Returns the rows of the organization's own store, most important first. An ID there is that of the imported entry, or that of an entry
 * here. An entry imported under it with another ID, because the scope knew of none, counts for its importer, and if none exists.
 */
export function ofOwnStore(rows: readonly Row[], scope: Scope): Row[] {
  const isItself = (row: Row) => String(row.entry_id) === String(row.their_id)
  return [...rows.filter(isItself), ...rows.filter((row) => !isItself(row) && row.owner === keeperOf(scope))]
}

/**
 * Returns those of the images that the organization uses, and whether an entry that the scope may read uses them (`seen`).
 */
export function imagesInUseStatement({ dialect, scope }: Context, now: Millis, hashes: readonly string[]): SQL {
  const shown = sql`EXISTS (SELECT 1 FROM entries e WHERE e.id = u.entry_id AND ${visible(dialect, scope, now)})
    OR EXISTS (SELECT 1 FROM entry_versions v WHERE v.id = -u.entry_id AND ${visibleState(dialect, scope, now)})`
  const seen = scope.isWhole ? sql`1` : sql`max(CASE WHEN ${shown} THEN 1 ELSE 0 END)`
  return sql`SELECT u.hash, ${seen} AS seen FROM image_uses u
    WHERE u.org = ${scope.org} AND u.hash ${dialect.inList(sql`${JSON.stringify(hashes)}`)} GROUP BY u.hash`
}

/** Converts a record. @returns null if the scope may not know about it */
export function toRemembered(row: Row, scope: Scope): Remembered | null {
  const isOwn = row.version === null
  const stands = row.standing !== null && row.standing !== undefined
  const rememberedByMe = !isOwn && row.owner === keeperOf(scope)
  // A caller who can only read an entry must not learn where it came from.
  const isReadOnly = isOwn && Number(row.mine) === 0 && Number(row.seen) === 1
  if (stands) {
    if (row.standing_org !== scope.org) return null
    const isPendingDeletion = Number(row.pending_deletion) === 1
    if (Number(row.mine) === 0 && !isReadOnly && !(isPendingDeletion && scope.isWhole)) return null
  } else {
    const known = row.was_mine === null ? rememberedByMe || scope.isWhole === true : Number(row.was_mine) === 1
    if (!known) return null
    // Of the own store, only IDs of former entries of this organization.
    if (isOwn && row.ended === null && row.changed === null) return null
  }
  return {
    entryId: Number(row.entry_id),
    version: isOwn ? null : Number(row.version),
    at: isOwn ? null : Number(row.at),
    existing: stands
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
 * Reserves IDs, the requested ones first if they are free in the database; returns `their_id` and `entry_id`. If a concurrent import of the
 * same volume has reserved an ID for an entry that the scope may change, it is used, so that each entry is stored once.
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
