import { type SQL, sql } from 'drizzle-orm'
import { IN_FLIGHT, WORK_KINDS } from '../../../../domain/entry/work'
import type { Millis } from '../../../../domain/time'
import type { PackSight, StandingRequest } from '../../../../ports/packs'
import type { SqlDialect } from '../../core/dialect'
import { listed, visible } from '../../core/visibility'
import { NEWEST_LINKS } from '../links/superseded'

/** The statements that packs are read by (packs contract). Each begins with what is known, and looks up rows from there. */
export interface PackContext {
  readonly dialect: SqlDialect
  readonly sight: PackSight
  /** Milliseconds since 1970. */
  readonly now: Millis
}

const words = (list: readonly string[]): SQL => sql.raw(list.map((word) => `'${word}'`).join(', '))

export const inPack = ({ dialect, sight, now }: PackContext, alias = 'e'): SQL =>
  listed(dialect, sight.scope, now, alias, { diaryOf: sight.diaryOf })

/**
 * The links `l` that an entry has at one of their ends, as a condition: each end has an index, and only that one is to lead there. A
 * link stands as long as its beginning; whoever follows it to its end asks whether that is there.
 */
export const linksOf = ({ dialect, sight }: PackContext, end: 'from_id' | 'to_id', id: SQL): SQL => {
  const ofOrg = sql`l.org = ${sight.scope.org}`
  return end === 'from_id'
    ? sql`${ofOrg} AND l.from_id = ${id}`
    : sql`l.to_id = ${id} AND ${dialect.plan.filterOnly(ofOrg)}`
}

/** As `linksOf`, the newest of those that lead to an entry; with `relation`, of those that say so, which an index of few has. */
export function newestLinksTo({ dialect, sight }: PackContext, id: SQL, relation?: 'contradicts'): SQL {
  const said = (alias: string) =>
    relation === undefined ? sql`` : sql` AND ${sql.raw(`${alias}.relation = '${relation}'`)}`
  // An entry belongs to one org, and so does what links to it.
  const ofOrg = dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`l.org`)} = ${sight.scope.org}`)
  return sql`l.to_id = ${id} AND ${ofOrg}${said('l')} AND l.from_id >= coalesce((
    SELECT few.from_id FROM links few WHERE few.to_id = ${id}${said('few')}
    ORDER BY few.from_id DESC LIMIT 1 OFFSET ${sql.raw(String(NEWEST_LINKS - 1))}), 0)`
}

/** Work in flight of one project, or of none; the statuses are spelt as the index has them. */
export function inFlightStatement(context: PackContext, { project, inFlight }: StandingRequest): SQL {
  const { dialect, sight, now } = context
  return sql`
    SELECT e.id FROM entries e
    WHERE ${listed(dialect, sight.scope, now)} AND e.status IN (${words(IN_FLIGHT)})
      AND ${project === null ? sql`e.project IS NULL` : sql`e.project = ${project}`}
      AND e.kind IN (${words(WORK_KINDS)})
    ORDER BY e.updated_at DESC, e.id DESC LIMIT ${inFlight}`
}

/** The newest pages of the diary; null without one. */
export function diaryStatement({ dialect, sight, now }: PackContext, limit: number): SQL | null {
  const { scope, diaryOf } = sight
  if (diaryOf === null || scope.owner === null) return null
  return sql`
    SELECT e.id FROM entries e
    WHERE e.diary = 1 AND e.archived = 0 AND e.reader = ${scope.owner}
      AND substr(e.agent, 1, 64) = substr(${diaryOf}, 1, 64) AND e.agent = ${diaryOf}
      AND ${visible(dialect, scope, now)}
    ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit}`
}

/** The newest entries of a time; of one project and of none, through the index of projects. Null where none are wanted. */
export function recentStatement(context: PackContext, { recent }: StandingRequest): SQL | null {
  const { sight, dialect, now } = context
  const { projects } = sight.scope
  const newest = (where: SQL): SQL => sql`
    SELECT * FROM (
      SELECT e.id, e.created_at FROM entries e
      WHERE ${listed(dialect, sight.scope, now)} AND ${where} AND e.created_at >= ${recent.since}
        AND e.created_at < ${recent.until}
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${recent.limit}
    ) AS part`
  if (recent.limit === 0) return null
  if (projects?.length !== 1)
    return sql`
      SELECT e.id FROM entries e
      WHERE ${listed(dialect, sight.scope, now)} AND e.created_second >= ${Math.floor(recent.since / 1000)}
        AND e.created_second < ${Math.floor(recent.until / 1000)}
      ORDER BY e.created_second DESC, e.id DESC LIMIT ${recent.limit}`
  const layers = (where: SQL): SQL =>
    sql.join(
      [1, 2, 3].map((layer) => newest(sql`${where} AND e.layer = ${sql.raw(String(layer))}`)),
      sql` UNION ALL `,
    )
  return sql`
    SELECT id FROM (
      SELECT * FROM (${layers(sql`e.project = ${projects[0]}`)}) AS own
      UNION ALL
      SELECT * FROM (${layers(sql`e.project IS NULL`)}) AS every
    ) AS newest
    ORDER BY created_at DESC, id DESC LIMIT ${recent.limit}`
}

const MOST_KINDS = 5

/** The newest entries of some kinds in one project, kind by kind through the index of kinds; null when none is asked for. */
export function ofKindStatement(context: PackContext, { ofKind }: StandingRequest): SQL | null {
  const { sight, dialect, now } = context
  const { projects } = sight.scope
  if (ofKind.limit === 0 || ofKind.kinds.length === 0 || projects?.length !== 1) return null
  const newest = (kind: string, layer: number): SQL => sql`
    SELECT * FROM (
      SELECT e.id, e.created_at FROM entries e
      WHERE ${listed(dialect, sight.scope, now)} AND e.project = ${projects[0]} AND e.layer = ${sql.raw(String(layer))}
        AND e.kind = ${kind}
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${ofKind.limit}
    ) AS part`
  // D1 takes five selects side by side, so each kind has its own.
  const ofOne = (kind: string): SQL =>
    sql`SELECT * FROM (${sql.join(
      [1, 2, 3].map((layer) => newest(kind, layer)),
      sql` UNION ALL `,
    )}) AS one`
  return sql`
    SELECT id FROM (${sql.join(ofKind.kinds.slice(0, MOST_KINDS).map(ofOne), sql` UNION ALL `)}) AS newest
    ORDER BY created_at DESC, id DESC LIMIT ${ofKind.limit}`
}
