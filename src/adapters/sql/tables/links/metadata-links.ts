import { type SQL, sql } from 'drizzle-orm'
import type { LinkTarget } from '../../../../domain/entry/link'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { visible } from '../../core/visibility'

/** Links in metadata, as in the column from which triggers maintain them. */
interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Whether anything is kept of an entry that does not stand, so that it may come back. */
export const mayReturn = (dialect: SqlDialect, id: SQL): SQL =>
  dialect.plan.exists(sql`SELECT 1 FROM entry_versions kept WHERE kept.entry_id = ${id}`)

/**
 * The targets that the writer can see. Where an entry is changed and still names one that it is linked to, that link stays too: another
 * writer who saw it made it, or it has been deleted and may come back; what was deleted before is not linked to anew.
 *
 * @param changed the id of the entry that is changed; null for a new one
 */
export function linkColumn({ dialect, scope, now }: Context, links: readonly LinkTarget[], changed: SQL | null): SQL {
  if (links.length === 0) return sql`NULL`
  const wanted = JSON.stringify(links.map(({ relation, to }) => [relation, to]))
  const rows = dialect.jsonTable(sql`${wanted}`, { relation: 'text', id: 'integer' })
  const pairs = dialect.jsonArrays([sql`wanted.relation`, sql`wanted.id`])
  const seen = visible(dialect, scope, now, 'target')
  if (changed === null)
    return sql`(SELECT ${pairs}
      FROM ${rows} wanted ${dialect.plan.follow('entries', 'target', sql`target.id = wanted.id`)}
      WHERE ${seen})`
  const linked = dialect.plan.exists(sql`
    SELECT 1 FROM links l
    WHERE l.org = ${scope.org} AND l.from_id = ${changed} AND l.relation = wanted.relation AND l.to_id = wanted.id
      AND l.origin = 'metadata'`)
  return sql`(SELECT ${pairs}
    FROM ${rows} wanted ${dialect.plan.followLeft('entries', 'target', sql`target.id = wanted.id`)}
    WHERE ${seen} OR (target.id IS NOT NULL OR ${mayReturn(dialect, sql`wanted.id`)}) AND ${linked})`
}
