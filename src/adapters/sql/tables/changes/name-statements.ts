import { type SQL, sql } from 'drizzle-orm'
import type { Attachment, PendingNames } from '../../../../domain/identity/project-attachment'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { ProjectAdmin, ProjectChangeDetail, ProjectChangeKind } from '../../../../ports/project-directory'
import type { SqlDialect } from '../../core/dialect'
import { reachesProject } from '../../core/visibility'
import { auditStatement } from './audit-statements'

/** Statements of the project directory: names, merges, and each change. */

/** Name of the precondition that the names of a batch were resolved by the current directory. */
export const PROJECTS = 'projects'

/** Maximum number of projects read for one short name: two show that it is ambiguous. */
const CANDIDATES = 20

export const versionOf = (org: string): SQL =>
  sql`coalesce((SELECT c.seq FROM project_changes c WHERE c.org = ${org} ORDER BY c.seq DESC LIMIT 1), 0)`

export const versionStatement = (org: string): SQL => sql`SELECT ${versionOf(org)} AS version`

export const versionGuard = (org: string, version: number): SQL =>
  sql`INSERT INTO guards (holds, precondition) SELECT ${versionOf(org)} = ${version}, ${PROJECTS}`

const listOf = (dialect: SqlDialect, values: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

/** Maximum number of names of one call that are checked when the directory has changed since they were resolved. */
const FEW_NAMES = 10

/**
 * Returns the same precondition for a write. New names of other projects do not matter, nor do its own, which an earlier batch of the call
 * may have written.
 */
export function namesGuard(dialect: SqlDialect, org: string, { version, attachments }: PendingNames): SQL {
  const given = attachments.map(
    ({ name, home }) => sql`EXISTS (
      SELECT 1 FROM project_names n WHERE n.org = ${org} AND n.name = ${name.normal} AND n.home = ${home})`,
  )
  const areGiven = attachments.length > FEW_NAMES ? sql`` : sql` OR (${sql.join(given, sql` AND `)})`
  const segments = listOf(dialect, [...new Set(attachments.map(({ name }) => name.segment))])
  const homes = listOf(dialect, [...new Set(attachments.map(({ home }) => home))])
  const isFarFrom = sql`NOT EXISTS (
      SELECT 1 FROM project_changes c WHERE c.org = ${org} AND c.seq > ${version} AND c.action NOT IN ('create', 'attach'))
    AND NOT EXISTS (SELECT 1 FROM project_names n WHERE n.org = ${org} AND n.segment IN ${segments} AND n.seq > ${version})
    AND NOT EXISTS (SELECT 1 FROM project_names n WHERE n.org = ${org} AND n.home IN ${homes} AND n.seq > ${version})`
  return sql`INSERT INTO guards (holds, precondition)
    SELECT ${versionOf(org)} = ${version} OR (${isFarFrom})${areGiven}, ${PROJECTS}`
}

/**
 * Returns every name of each project that has one of these names, or that ends with one of these segments. Rows outside a narrowed scope
 * are not read.
 */
export function namesStatement(
  dialect: SqlDialect,
  { org, projects }: Pick<Scope, 'org' | 'projects'>,
  names: readonly string[],
  segments: readonly string[],
): SQL {
  const open = (column: SQL): SQL => reachesProject(dialect, { projects }, column)
  const ending = sql`
    UNION SELECT home FROM (
      SELECT DISTINCT s.segment, s.home FROM project_names s
      WHERE s.org = ${org} AND s.segment IN ${listOf(dialect, segments)}${open(sql`s.home`)}
      ORDER BY s.segment, s.home LIMIT ${CANDIDATES * Math.max(1, segments.length)}) ending`
  return sql`
    WITH found (home) AS (
      SELECT n.home FROM project_names n
      WHERE n.org = ${org} AND n.name IN ${listOf(dialect, names)}${open(sql`n.home`)}
      ${segments.length === 0 ? sql`` : ending}
    ), roots (project) AS (
      SELECT DISTINCT coalesce(p.merged_into, found.home) FROM found
      LEFT JOIN projects p ON p.org = ${org} AND p.id = found.home
    ), homes (home, project) AS (
      SELECT roots.project, roots.project FROM roots
      UNION ALL
      SELECT p.id, roots.project FROM roots JOIN projects p ON p.org = ${org} AND p.merged_into = roots.project
    )
    SELECT homes.home, homes.project, n.name, n.kind, n.segment, n.spelling, n.narrow, t.name AS title
    FROM homes
      LEFT JOIN project_names n ON n.org = ${org} AND n.home = homes.home
      LEFT JOIN projects t ON t.org = ${org} AND t.id = homes.project
    WHERE 1 = 1${open(sql`homes.home`)}
    ORDER BY n.created_at, homes.home, n.name`
}

/** Returns those of the keys that have entries but no names. */
export const unnamedStatement = (dialect: SqlDialect, org: string, keys: readonly string[]): SQL => sql`
  SELECT sent.value AS project FROM ${dialect.jsonRows(sql`${JSON.stringify(keys)}`)} sent
  WHERE (EXISTS (SELECT 1 FROM entry_counters e WHERE e.org = ${org} AND e.project = sent.value)
      OR EXISTS (SELECT 1 FROM code_projects c WHERE c.org = ${org} AND c.project = sent.value))
    AND NOT EXISTS (SELECT 1 FROM project_names n WHERE n.org = ${org} AND n.home = sent.value)`

/** Returns the projects of an organization without a directory. */
export function unseededStatement(org: string): SQL {
  // In each part, so that no entries are read when the organization has a directory.
  const isUnseeded = sql`NOT EXISTS (SELECT 1 FROM project_changes d WHERE d.org = ${org})`
  return sql`
    SELECT e.project FROM entry_counters e WHERE e.org = ${org} AND e.project <> '' AND ${isUnseeded}
    UNION SELECT c.project FROM code_projects c WHERE c.org = ${org} AND ${isUnseeded}
    UNION SELECT p.id FROM projects p WHERE p.org = ${org} AND ${isUnseeded}
    ORDER BY project`
}

/**
 * Inserts a name of a key. A name that a narrowed key attached applies to all keys from its first use by an unrestricted key on.
 */
export const nameStatement = (
  org: string,
  owner: string | null,
  now: Millis,
  { name, home, isNarrow }: Attachment,
): SQL => sql`
  INSERT INTO project_names (org, name, home, kind, segment, spelling, owner, narrow, seq, created_at)
  VALUES (${org}, ${name.normal}, ${home}, ${name.kind}, ${name.segment}, ${name.key}, ${owner ?? ''}, ${isNarrow ? 1 : 0},
    ${versionOf(org)} + 1, ${now})
  ON CONFLICT (org, name, home) DO UPDATE SET narrow = 0, seq = excluded.seq WHERE excluded.narrow = 0 AND project_names.narrow = 1`

export const changeStatement = (
  by: Pick<ProjectAdmin, 'org' | 'keyId'>,
  now: Millis,
  action: ProjectChangeKind,
  detail: ProjectChangeDetail,
): SQL => sql`
  INSERT INTO project_changes (org, seq, at, key_id, action, detail)
  VALUES (${by.org}, ${versionOf(by.org)} + 1, ${now}, ${by.keyId}, ${action}, ${JSON.stringify(detail)})`

/** Inserts the names of a write, their changes, and the audit rows of those that the response lists. */
export const attachStatements = (by: ProjectAdmin, now: Millis, attachments: readonly Attachment[]): SQL[] =>
  attachments.flatMap((attachment) => {
    const { name, home, isNew, isTold } = attachment
    const detail = { project: home, name: name.normal }
    const { keyId, agent, tool } = by
    const event = { keyId, agent, action: 'projects.attach', tool, ids: [], allowed: true, detail }
    return [
      nameStatement(by.org, by.owner, now, attachment),
      changeStatement(by, now, isNew ? 'create' : 'attach', detail),
      ...(isTold ? [auditStatement(by.org, now, event)] : []),
    ]
  })
