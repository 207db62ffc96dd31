// Which entry takes the place of another, for who asks?
import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import { TRUE } from '../../core/compile-filter'
import type { SqlDialect } from '../../core/dialect'
import { visible } from '../../core/visibility'

interface Context {
  readonly dialect: SqlDialect
  /** The caller, the agent whose diary pages count, if any, and whether only approved entries do. */
  readonly sight: { readonly scope: Scope; readonly diaryOf: string | null; readonly isApproved?: boolean }
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Links to an entry that are looked at, from the newest entries: hundreds of thousands may refer to one. */
export const NEWEST_LINKS = 1_000

/** The link from `s` to `e` is not of a key narrowed to projects, as far as its maker is known. */
const madeByAny = (org: string, isNarrowed: (key: SQL) => SQL, { plan }: SqlDialect): SQL =>
  plan.exists(sql`
    SELECT 1 FROM links made
    WHERE made.org = ${org} AND made.from_id = s.id AND made.relation = 'supersedes'
      AND ${plan.filterOnly(sql`made.to_id = e.id`)} AND made.made_by IS NOT NULL AND NOT ${isNarrowed(sql`made.made_by`)}`)

/**
 * Whether `s` takes the place of `e` for who asks. Who writes with a key narrowed to projects may not change what belongs to the whole
 * org, so there it counts where nothing but these projects is asked of; unless such a key has only changed what another had linked.
 */
function replaces({ dialect, sight }: Context): SQL {
  const { org, projects: asked } = sight.scope
  const own = sql`SELECT value FROM ${dialect.jsonRows(sql`k.projects`)} AS own`
  const beyond =
    asked === null
      ? TRUE
      : sql`EXISTS (SELECT 1 FROM ${dialect.jsonRows(sql`${JSON.stringify(asked)}`)} AS asked WHERE asked.value NOT IN (${own}))`
  const isNarrowed = (key: SQL): SQL =>
    dialect.plan.exists(sql`
    SELECT 1 FROM api_keys k
    WHERE k.id = ${key} AND k.projects IS NOT NULL AND ${beyond}`)
  return sql`(e.project IS NOT NULL OR s.project IS NULL OR NOT ${isNarrowed(sql`coalesce(s.changed_by, s.created_by)`)}
    OR ${madeByAny(org, isNarrowed, dialect)})`
}

/** What the caller sees and what takes the place of `e`, as `s`; of two that supersede each other the newer stands. */
function successors(context: Context): SQL {
  const { dialect, sight, now } = context
  const { org } = sight.scope
  const own = sight.diaryOf === null ? sql`s.diary = 0` : sql`(s.diary = 0 OR s.agent = ${sight.diaryOf})`
  return sql`(
      SELECT l.from_id FROM links l
      WHERE l.to_id = e.id AND l.relation = 'supersedes' AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`l.org`)} = ${org}`)}
      ORDER BY l.from_id DESC LIMIT ${sql.raw(String(NEWEST_LINKS))}
    ) AS l ${dialect.plan.follow('entries', 's', sql`s.id = l.from_id`)}
    WHERE ${visible(dialect, sight.scope, now, 's', { isApproved: sight.isApproved ?? false })} AND ${own} AND ${replaces(context)}
      AND (s.id > e.id OR NOT ${dialect.plan.exists(sql`
        SELECT 1 FROM links back
        WHERE back.org = ${org} AND back.from_id = e.id AND back.relation = 'supersedes'
          AND ${dialect.plan.filterOnly(sql`back.to_id = s.id`)}`)})`
}

/** Something that the caller sees supersedes `e`. */
export const superseded = (context: Context): SQL =>
  context.dialect.plan.exists(sql`
    SELECT 1 FROM ${successors(context)}`)

/** The id of the newest that does; NULL for none. @param among what else holds of those that count, as `s` */
export const supersededBy = (dialect: SqlDialect, scope: Scope, now: Millis, among = sql``): SQL => sql`(
    SELECT s.id FROM ${successors({ dialect, sight: { scope, diaryOf: null }, now })}${among} ORDER BY s.id DESC LIMIT 1
  )`
