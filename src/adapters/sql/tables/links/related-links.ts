import { type SQL, sql } from 'drizzle-orm'
import type { NewEntry } from '../../../../domain/entry/entry-write'
import type { LinkTarget } from '../../../../domain/entry/link'
import { notFound, type Problem } from '../../../../domain/errors'
import type { Caller } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { visible } from '../../core/visibility'

/** Links that an argument of a write names: all of them are made or nothing is stored, and no write of metadata removes them. */
interface Context {
  readonly dialect: SqlDialect
  readonly scope: Caller
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** The premise of such a write, as the schema names it. */
const RELATED = 'related_to'

/** The links of the entry that `row` names. */
export function relatedStatements(
  { dialect }: Pick<Context, 'dialect'>,
  links: readonly LinkTarget[],
  row: SQL,
): SQL[] {
  if (links.length === 0) return []
  const wanted = JSON.stringify(links.map(({ relation, to }) => [relation, to]))
  return [
    sql`INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
      SELECT e.org, e.id, wanted.relation, wanted.id, 'remember', coalesce(e.changed_by, e.created_by, '')
      FROM ${dialect.jsonTable(sql`${wanted}`, { relation: 'text', id: 'integer' })} wanted
        ${dialect.plan.follow('entries', 'e', row)}
      WHERE wanted.id <> e.id
      ON CONFLICT DO NOTHING`,
  ]
}

/** Refuses the batch unless the writer can read every target; nothing where there is none. */
export function relatedGuards({ dialect, scope, now }: Context, entries: readonly NewEntry[]): SQL[] {
  const ids = [...new Set(entries.flatMap(({ related = [] }) => related.map(({ to }) => to)))]
  if (ids.length === 0) return []
  return [
    sql`INSERT INTO guards (holds, precondition)
      SELECT (
        SELECT count(*) FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} wanted
          ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
        WHERE ${visible(dialect, scope, now)}
      ) = ${ids.length}, ${RELATED}`,
  ]
}

/** What a caller hears whose write was refused by a premise with a name; null for a name that is none. */
export const premiseProblem = (name: string | null): Problem | null =>
  name === RELATED ? notFound('An entry that related_to names was not found; nothing was stored') : null
