import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { visible, visibleState } from '../../core/visibility'

/**
 * Decides when an image is in use, and when it may be missing; shared by the removal of images and the writes of entries. The view
 * `images_in_use` defines a use.
 *
 * A removal leases a row of work and writes a tombstone that outlives it. A write puts its bytes first and commits later; a removal may run
 * in
 * between. So the write is refused while a removal runs, and if there is a tombstone that it had not seen when it put its bytes. Bytes put
 * after
 * reading a tombstone were put after that removal.
 */

/** Returns whether an organization uses an image. */
export const imageInUse = (org: SQL, hash: SQL): SQL =>
  sql`EXISTS (SELECT 1 FROM images_in_use u WHERE u.org = ${org} AND u.hash = ${hash})`

/** Writes a tombstone for every image of a lease, each with a number of its own. */
export const writeTombstones = (token: string, now: Millis): SQL[] => {
  const claimed = sql`o.topic = 'image_delete' AND o.token = ${token} AND o.state = 'claimed' AND o.due_at > ${now}`
  return [
    sql`
      DELETE FROM image_removals WHERE EXISTS (
        SELECT 1 FROM outbox o WHERE o.org = image_removals.org AND o.key = image_removals.hash AND ${claimed}
      )`,
    sql`INSERT INTO image_removals (org, hash, at) SELECT o.org, o.key, ${now} FROM outbox o WHERE ${claimed}`,
  ]
}

const list = (dialect: SqlDialect, values: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

/**
 * Refuses a batch whose new images may be missing. It runs after the writes: on PostgreSQL another transaction may lease an image until its
 * new
 * use is written, but not afterwards.
 *
 * @param known tombstones that were read before the bytes were put; they are deleted, because the bytes exist again
 */
export function imageGuard(
  dialect: SqlDialect,
  org: string,
  hashes: readonly string[],
  known: readonly number[],
): SQL[] {
  if (hashes.length === 0) return []
  const wanted = list(dialect, hashes)
  const ids = sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(known)}`)})`
  const guard = sql`
    INSERT INTO guards (holds) SELECT NOT EXISTS (
      SELECT 1 FROM outbox
      WHERE org = ${org} AND topic = 'image_delete' AND state = 'claimed' AND key IN ${wanted}
    ) AND NOT EXISTS (
      SELECT 1 FROM image_removals WHERE org = ${org} AND hash IN ${wanted} AND id NOT IN ${ids}
    )`
  return known.length === 0 ? [guard] : [guard, sql`DELETE FROM image_removals WHERE org = ${org} AND id IN ${ids}`]
}

/** Returns the tombstones of images of an organization, as `id`. */
export const tombstonesStatement = (dialect: SqlDialect, org: string, hashes: readonly string[]): SQL =>
  sql`SELECT id FROM image_removals WHERE org = ${org} AND hash IN ${list(dialect, hashes)}`

/** Returns the type of an image, as `mime_type`, if an entry or a retained version that the scope may see uses it. */
export const imageTypeStatement = (dialect: SqlDialect, scope: Scope, hash: string, now: Millis): SQL => sql`
  SELECT u.mime_type FROM image_uses u
  WHERE u.org = ${scope.org} AND u.hash = ${hash} AND (
    EXISTS (SELECT 1 FROM entries e WHERE e.id = u.entry_id AND ${visible(dialect, scope, now)})
    OR EXISTS (
      SELECT 1 FROM entry_versions v
      WHERE v.id = -u.entry_id AND ${visibleState(dialect, scope, now)}
    )
  ) LIMIT 1`
