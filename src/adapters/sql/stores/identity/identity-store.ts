import { type SQL, sql } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import type { ApiKey, Org, Project } from '../../../../domain/identity/identity'
import type { Role } from '../../../../domain/identity/scope'
import type { Clock } from '../../../../ports/clock'
import type { IdentityStore } from '../../../../ports/identity-store'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { circle, reachesProject } from '../../core/visibility'
import { auditStatement } from '../../tables/changes/audit-log'

/** Orgs, projects and keys over any SQL connection. */
const KEY_COLUMNS = sql.raw(
  'id, org, name, role, projects, agent, owner, created_at, created_by, expires_at, revoked_at, last_used_at, captures',
)

const orNull = (value: unknown): number | null => (value === null ? null : Number(value))

const toKey = (row: Row): ApiKey => ({
  id: row.id as string,
  org: row.org as string,
  name: row.name as string,
  role: row.role as Role,
  projects: row.projects === null ? null : (JSON.parse(row.projects as string) as string[]),
  agent: row.agent as string | null,
  owner: row.owner as string,
  createdAt: Number(row.created_at),
  createdBy: row.created_by as string,
  expiresAt: orNull(row.expires_at),
  revokedAt: orNull(row.revoked_at),
  lastUsedAt: orNull(row.last_used_at),
  captures: Number(row.captures) === 1,
})

const toOrg = (row: Row): Org => ({
  id: row.id as string,
  name: row.name as string,
  createdAt: Number(row.created_at),
})

export function createSqlIdentityStore(connection: SqlConnection, clock: Clock): IdentityStore {
  const { dialect } = connection
  const jsonList = (values: readonly string[]): SQL =>
    sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

  /** A batch whose first statement refuses it when something is taken already. */
  async function unlessTaken(org: string, taken: SQL, message: string, statements: readonly SQL[]): Promise<void> {
    const guard = sql`INSERT INTO guards (holds) SELECT NOT EXISTS (${taken})`
    try {
      await connection.batch([guard, ...statements], { org })
    } catch (error) {
      if (error instanceof PremiseFailed) throw new Problem('conflict', message)
      throw error
    }
  }

  return {
    createOrg: ({ id, name, createdAt }, event) =>
      unlessTaken(id, sql`SELECT 1 FROM orgs WHERE id = ${id}`, `Organization already exists: ${id}`, [
        sql`INSERT INTO orgs (id, name, created_at) VALUES (${id}, ${name}, ${createdAt})`,
        auditStatement(id, clock.now(), event),
      ]),

    async orgs(ids) {
      const named = ids ? sql` WHERE id IN ${jsonList(ids)}` : sql``
      const [rows] = await connection.batch([sql`SELECT id, name, created_at FROM orgs${named} ORDER BY id`])
      return (rows ?? []).map(toOrg)
    },

    createProject: (org, { id, name, createdAt }, event) =>
      unlessTaken(org, sql`SELECT 1 FROM projects WHERE org = ${org} AND id = ${id}`, `Project already exists: ${id}`, [
        sql`INSERT INTO projects (org, id, name, created_at) VALUES (${org}, ${id}, ${name}, ${createdAt})`,
        auditStatement(org, clock.now(), event),
      ]),

    async projects(scope) {
      const [named, used] = await connection.batch([
        sql`SELECT id, name, created_at FROM projects
          WHERE org = ${scope.org}${reachesProject(dialect, scope, sql`id`)} ORDER BY id LIMIT 1000`,
        sql`SELECT DISTINCT c.project FROM thread_counters c
          WHERE c.org = ${scope.org} AND c.project <> '' AND ${circle(dialect, scope, 'c', 'empty')} ORDER BY c.project
          LIMIT 1000`,
      ])
      const projects = new Map<string, Project>()
      for (const row of used ?? [])
        projects.set(row.project as string, {
          id: row.project as string,
          name: row.project as string,
          createdAt: null,
        })
      for (const row of named ?? [])
        projects.set(row.id as string, {
          id: row.id as string,
          name: row.name as string,
          createdAt: Number(row.created_at),
        })
      return [...projects.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 1000)
    },

    async owners(org) {
      const [rows] = await connection.batch([sql`SELECT name FROM owners WHERE org = ${org}`])
      return (rows ?? []).map(({ name }) => name as string)
    },

    async createKey(key, hash, event, newOwner) {
      const projects = key.projects === null ? null : JSON.stringify(key.projects)
      const { id, org, name, role, agent, owner, createdAt, createdBy, expiresAt } = key
      const statements = [
        sql`INSERT INTO owners (org, name) VALUES (${org}, ${owner}) ON CONFLICT DO NOTHING`,
        sql`
          INSERT INTO api_keys (${KEY_COLUMNS}, hash)
          VALUES (${id}, ${org}, ${name}, ${role}, ${projects}, ${agent}, ${owner}, ${createdAt}, ${createdBy}, ${expiresAt},
            NULL, NULL, ${Number(key.captures)}, ${hash})`,
        auditStatement(org, clock.now(), event),
      ]
      if (!newOwner) await connection.batch(statements, { org })
      else
        await unlessTaken(
          org,
          sql`SELECT 1 FROM owners WHERE org = ${org} AND name = ${owner}`,
          `There is an owner of this name already: ${owner}`,
          statements,
        )
    },

    async keys(org) {
      const [rows] = await connection.batch([
        sql`SELECT ${KEY_COLUMNS} FROM api_keys WHERE org = ${org} ORDER BY created_at, id`,
      ])
      return (rows ?? []).map(toKey)
    },

    async keyByHash(hash) {
      const [rows] = await connection.batch([sql`SELECT ${KEY_COLUMNS}, hash FROM api_keys WHERE hash = ${hash}`])
      const row = rows?.[0]
      return row === undefined ? null : { key: toKey(row), hash: row.hash as string }
    },

    async keyById(id) {
      const [rows] = await connection.batch([sql`SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = ${id}`])
      return rows?.[0] === undefined ? null : toKey(rows[0])
    },

    async revokeKeys(org, ids, at, event) {
      const live = sql`org = ${org} AND id IN ${jsonList(ids)} AND revoked_at IS NULL`
      try {
        await connection.batch(
          [
            sql`INSERT INTO guards (holds) SELECT EXISTS (SELECT 1 FROM api_keys WHERE ${live})`,
            sql`UPDATE api_keys SET revoked_at = ${at} WHERE ${live}`,
            auditStatement(org, clock.now(), event),
          ],
          { org },
        )
        return true
      } catch (error) {
        if (error instanceof PremiseFailed) return false
        throw error
      }
    },

    async noteUse(id, at) {
      await connection.batch([sql`UPDATE api_keys SET last_used_at = ${at} WHERE id = ${id}`])
    },

    async hasKeys() {
      const [rows] = await connection.batch([sql`SELECT 1 AS one FROM api_keys LIMIT 1`])
      return rows?.[0] !== undefined
    },
  }
}
