// Links between entries, and which entry supersedes another for a reader.

import { type SQL, sql } from 'drizzle-orm'
import type { NewEntry } from '../../../../domain/entry/entry-write'
import type { LinkTarget } from '../../../../domain/entry/link'
import { notFound, type Problem } from '../../../../domain/errors'
import type { Caller, Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import { TRUE } from '../../core/compile-filter'
import type { SqlDialect } from '../../core/dialect'
import { visible } from '../../core/visibility'

/** Links in metadata, as in the column from which triggers maintain them. */
interface MetadataLinkContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Returns whether a retained version exists of a deleted entry, so that it may be restored. */
export const mayReturn = (dialect: SqlDialect, id: SQL): SQL =>
  dialect.plan.exists(sql`SELECT 1 FROM entry_versions kept WHERE kept.entry_id = ${id}`)

/**
 * Returns the links of a write to targets that the writer can see. A changed entry keeps its existing links, which another writer may have
 * made, or
 * whose targets may be restored. A deleted target gets no new links.
 *
 * @param changed the ID of the changed entry; null for a new one
 */
export function linkColumn(
  { dialect, scope, now }: MetadataLinkContext,
  links: readonly LinkTarget[],
  changed: SQL | null,
): SQL {
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

/** Links in an argument of a write: all are created or nothing is stored, and no write of metadata removes them. */
interface Context {
  readonly dialect: SqlDialect
  readonly scope: Caller
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Name of their precondition in the schema. */
const RELATED = 'related_to'

/** Returns the links of the entry that `row` selects. */
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

/** Returns a precondition that the writer can read every target; none without targets. */
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

/** Returns the problem of a named precondition; null for an unknown name. */
export const preconditionProblem = (name: string | null): Problem | null =>
  name === RELATED ? notFound('An entry in related_to was not found; nothing was stored') : null

interface SupersededContext {
  readonly dialect: SqlDialect
  /** The caller, the agent whose diary pages count, if any, and whether only approved entries count. */
  readonly visibility: { readonly scope: Scope; readonly diaryOf: string | null; readonly isApproved?: boolean }
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/**
 * Maximum number of links to an entry that are read, from the newest sources: hundreds of thousands may refer to one.
 */
export const NEWEST_LINKS = 1_000

/** Matches a link from `s` to `e` that a narrowed key did not make, as far as its maker is known. */
const madeByAny = (org: string, isNarrowed: (key: SQL) => SQL, { plan }: SqlDialect): SQL =>
  plan.exists(sql`
    SELECT 1 FROM links made
    WHERE made.org = ${org} AND made.from_id = s.id AND made.relation = 'supersedes'
      AND ${plan.filterOnly(sql`made.to_id = e.id`)} AND made.made_by IS NOT NULL AND NOT ${isNarrowed(sql`made.made_by`)}`)

/**
 * Returns whether `s` supersedes `e` for a reader. A narrowed key may not change entries without project, so its links count there only for
 * readers of the same projects, unless the key only changed an entry that already had the link.
 */
function replaces({ dialect, visibility }: SupersededContext): SQL {
  const { org, projects: asked } = visibility.scope
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

/** Returns the visible entries `s` that supersede `e`. Of two that supersede each other, the newer one is current. */
function successors(context: SupersededContext): SQL {
  const { dialect, visibility, now } = context
  const { org } = visibility.scope
  const own = visibility.diaryOf === null ? sql`s.diary = 0` : sql`(s.diary = 0 OR s.agent = ${visibility.diaryOf})`
  return sql`(
      SELECT l.from_id FROM links l
      WHERE l.to_id = e.id AND l.relation = 'supersedes' AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`l.org`)} = ${org}`)}
      ORDER BY l.from_id DESC LIMIT ${sql.raw(String(NEWEST_LINKS))}
    ) AS l ${dialect.plan.follow('entries', 's', sql`s.id = l.from_id`)}
    WHERE ${visible(dialect, visibility.scope, now, 's', { isApproved: visibility.isApproved ?? false })} AND ${own} AND ${replaces(context)}
      AND (s.id > e.id OR NOT ${dialect.plan.exists(sql`
        SELECT 1 FROM links back
        WHERE back.org = ${org} AND back.from_id = e.id AND back.relation = 'supersedes'
          AND ${dialect.plan.filterOnly(sql`back.to_id = s.id`)}`)})`
}

/** Returns whether an entry that the caller sees supersedes `e`. */
export const superseded = (context: SupersededContext): SQL =>
  context.dialect.plan.exists(sql`
    SELECT 1 FROM ${successors(context)}`)

/** Returns the ID of the newest one; NULL for none. @param among further conditions on `s` */
export const supersededBy = (dialect: SqlDialect, scope: Scope, now: Millis, among = sql``): SQL => sql`(
    SELECT s.id FROM ${successors({ dialect, visibility: { scope, diaryOf: null }, now })}${among} ORDER BY s.id DESC LIMIT 1
  )`
