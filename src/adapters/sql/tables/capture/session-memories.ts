// What did sessions do with memories? One row a session (session_memories), read for people alone.
import { type SQL, sql } from 'drizzle-orm'
import type { ComparedMemory, MemoryUse } from '../../../../domain/capture/memory-use'
import type { NamedMemory, SessionUse } from '../../../../domain/capture/usage'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { num, str, strOrNull } from '../../core/rows'
import { listed, listedToChange, projectsOf, reachesProject, visible } from '../../core/visibility'
import { beginningOf } from '../texts/long-texts'

/** Characters of a memory that are compared: as many as a start reads. */
const COMPARED = 1_300
/** Sessions that one read returns, the newest. */
const MOST_SESSIONS = 10_000
/** Characters of a memory on a page of many. */
const SHOWN = 200

interface Place {
  readonly org: string
  readonly owner: string
  readonly name: string
  readonly project: string | null
}

/** Stores the one row of a session. The same use writes nothing. */
export const noteUse = ({ org, owner, name, project }: Place, use: readonly MemoryUse[], now: Millis): SQL => sql`
  INSERT INTO session_memories (org, owner, session, project, at, memories)
  VALUES (${org}, ${owner}, ${name}, ${project ?? ''}, ${now}, ${JSON.stringify(use)})
  ON CONFLICT (org, owner, session) DO UPDATE SET project = excluded.project, at = excluded.at, memories = excluded.memories
  WHERE session_memories.memories <> excluded.memories OR session_memories.project <> excluded.project`

export const comparedStatement = (dialect: SqlDialect, scope: Scope, ids: readonly number[], now: Millis): SQL => sql`
  SELECT e.id, e.title, ${beginningOf(dialect, COMPARED)} AS text,
    ${dialect.textAt(['fileContext', 'path'])} AS opened_file, ${dialect.textAt(['codeBlock', 'filePath'])} AS code_file
  FROM (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}) wanted
  ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
  WHERE ${dialect.plan.filterOnly(visible(dialect, scope, now))}`

export const toCompared = (row: Row): ComparedMemory => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
  files: [strOrNull(row, 'opened_file'), strOrNull(row, 'code_file')].filter((file) => file !== null),
})

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  readonly now: Millis
}

/**
 * Sessions of every owner in projects that the scope reaches, newest first: their rows hold no words.
 *
 * @param id only those that have to do with this memory; null for all
 */
export function usesStatement({ dialect, scope }: Omit<Context, 'now'>, since: Millis, id: number | null): SQL {
  const projects = projectsOf(scope)
  const ofMemory = id === null ? sql`` : sql` AND s.memories LIKE ${`%[${id},%`}`
  return sql`
    SELECT s.session, s.at, s.memories FROM session_memories s
    WHERE s.org = ${scope.org} AND s.at >= ${since}${reachesProject(dialect, { projects }, sql`s.project`)}${ofMemory}
    ORDER BY s.at DESC LIMIT ${MOST_SESSIONS}`
}

export const toSessionUse = (row: Row): SessionUse => ({
  session: str(row, 'session'),
  at: num(row, 'at'),
  memories: JSON.parse(str(row, 'memories')),
})

/** The time of the oldest row of an organization. */
export const firstUseStatement = ({ org }: Scope): SQL =>
  sql`SELECT min(s.at) AS at FROM session_memories s WHERE s.org = ${org}`

/** Listed memories of these ids, for people. */
export const namedStatement = ({ dialect, scope, now }: Context, ids: readonly number[]): SQL => sql`
  SELECT e.id, e.title, e.kind, e.version, e.project, e.created_at, ${beginningOf(dialect, SHOWN)} AS text
  FROM (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}) wanted
  ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
  WHERE ${dialect.plan.filterOnly(listed(dialect, scope, now))}`

/** The oldest listed memories that the scope may change, that were created before a time and are none of these. */
export const unusedStatement = (
  { dialect, scope, now }: Context,
  before: Millis,
  used: readonly number[],
  limit: number,
): SQL => sql`
  SELECT e.id, e.title, e.kind, e.version, e.project, e.created_at, ${beginningOf(dialect, SHOWN)} AS text
  FROM entries e
  WHERE ${listedToChange(dialect, scope, now)} AND e.layer <> 1 AND e.pinned = 0 AND e.created_at < ${before}
    AND e.updated_at < ${before}
    AND e.id NOT IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(used)}`)} known)
  ORDER BY e.created_at, e.id LIMIT ${limit}`

export const toNamed = (row: Row): NamedMemory => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
  kind: str(row, 'kind'),
  version: num(row, 'version'),
  project: strOrNull(row, 'project'),
  createdAt: num(row, 'created_at'),
})
