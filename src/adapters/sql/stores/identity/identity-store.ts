import { type SQL, sql } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import type { AuditEvent } from '../../../../domain/identity/audit'
import { type ApiKey, addressInUse, alreadyExists, type Org, type Project } from '../../../../domain/identity/identity'
import { hasLimits, type KeyLimits } from '../../../../domain/identity/key-limits'
import { readProjectName } from '../../../../domain/identity/project-names'
import { ROLES } from '../../../../domain/identity/scope'
import type { Clock } from '../../../../ports/clock'
import type { IdentityStore } from '../../../../ports/identity-store'
import { Batch, readOne, runOne } from '../../core/batch'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import {
  each,
  firstRow,
  flag,
  howMany,
  jsonOrNull,
  num,
  numOrNull,
  oneOf,
  str,
  strOrNull,
  textsOf,
} from '../../core/rows'
import { auditStatement } from '../../tables/changes/audit-statements'
import { nearQuota, storedToday } from '../../tables/changes/key-quota'
import { attachStatements } from '../../tables/changes/name-statements'

/** Keys of one address that are read. */
const MOST_OF_ADDRESS = 100

const COLUMNS_OF_KEY = [
  ...[
    'id',
    'org',
    'name',
    'role',
    'projects',
    'agent',
    'owner',
    'created_at',
    'created_by',
    'expires_at',
    'revoked_at',
  ],
  ...['last_used_at', 'captures', 'email', 'rate_limit', 'max_entries', 'counted_as'],
]

/** Columns of a key, with its organization. */
export const KEY_COLUMNS = sql.raw(COLUMNS_OF_KEY.join(', '))

/**
 * Version of the project directory of the key's organization, read with the key, so that known names need no round trip.
 */
const DIRECTORY_OF_KEY = sql.raw(`coalesce((
  SELECT c.seq FROM project_changes c WHERE c.org = api_keys.org ORDER BY c.seq DESC LIMIT 1), 0) AS directory`)

const roleOf = oneOf(ROLES)

function limitsOf(row: Row): { readonly limits?: KeyLimits } {
  const limits = { requestsPerMinute: numOrNull(row, 'rate_limit'), entriesPerDay: numOrNull(row, 'max_entries') }
  return hasLimits(limits) ? { limits } : {}
}

export const toKey = (row: Row): ApiKey => ({
  id: str(row, 'id'),
  org: str(row, 'org'),
  name: str(row, 'name'),
  role: roleOf(row, 'role'),
  projects: jsonOrNull<string[]>(row, 'projects'),
  agent: strOrNull(row, 'agent'),
  owner: str(row, 'owner'),
  createdAt: num(row, 'created_at'),
  createdBy: str(row, 'created_by'),
  expiresAt: numOrNull(row, 'expires_at'),
  revokedAt: numOrNull(row, 'revoked_at'),
  lastUsedAt: numOrNull(row, 'last_used_at'),
  captures: flag(row, 'captures'),
  ...(row.email === null ? {} : { email: str(row, 'email') }),
  ...limitsOf(row),
  ...(row.counted_as === null ? {} : { countedAs: str(row, 'counted_as') }),
  ...(row.stored_today === undefined ? {} : { storedToday: num(row, 'stored_today') }),
  ...(row.directory === undefined ? {} : { directory: num(row, 'directory') }),
})

export const toNamed = (row: Row): Org & Project => ({
  id: str(row, 'id'),
  name: str(row, 'name'),
  createdAt: num(row, 'created_at'),
})

/** Creates the store of organizations, projects and keys over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlIdentityStore(connection: SqlConnection, clock: Clock): IdentityStore {
  const { dialect } = connection
  const jsonList = (values: readonly string[]): SQL =>
    sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

  /** Matches keys `k` that can be used now. */
  const usable = (): SQL => sql`k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${clock.now()})`

  /** Runs a batch whose first statement refuses it when a name exists already. */
  async function unlessTaken(org: string, taken: SQL, problem: Problem, statements: readonly SQL[]): Promise<void> {
    const guard = sql`INSERT INTO guards (holds) SELECT NOT EXISTS (${taken})`
    try {
      await new Batch(guard, ...statements).run(connection, { org })
    } catch (error) {
      if (error instanceof PreconditionFailed) throw problem
      throw error
    }
  }

  /** Matches keys of an organization that are not revoked. */
  const unrevoked = (org: string, ids: readonly string[]): SQL =>
    sql`org = ${org} AND id IN ${jsonList(ids)} AND revoked_at IS NULL`

  /** Runs a batch if there is one of these keys. @returns false if a precondition failed; then nothing is written */
  async function whileAny(org: string, keys: SQL, statements: readonly SQL[]): Promise<boolean> {
    try {
      const guard = sql`INSERT INTO guards (holds) SELECT EXISTS (SELECT 1 FROM api_keys WHERE ${keys})`
      await new Batch(guard, ...statements).run(connection, { org })
      return true
    } catch (error) {
      if (error instanceof PreconditionFailed) return false
      throw error
    }
  }

  /** Selects the usable keys of other owners with the address of a key. */
  const othersWithAddress = ({ org, owner, email = '' }: ApiKey): SQL =>
    sql`SELECT 1 FROM api_keys k WHERE k.org = ${org} AND k.owner <> ${owner} AND k.email = ${email} AND ${usable()}`

  /** Inserts the key of a project as its first name, if it has none. */
  function ownName(org: string, id: string, { keyId, agent, action, tool }: AuditEvent): SQL[] {
    const name = readProjectName(id)
    if (name === null) return []
    const by = { org, keyId, agent, action, tool, owner: null }
    return attachStatements(by, clock.now(), [{ name, home: id, isNew: true, isNarrow: false, isTold: false }])
  }

  function insertKey(
    { id, org, name, role, agent, owner, createdAt, createdBy, expiresAt, ...key }: ApiKey,
    hash: string,
  ): SQL {
    const projects = key.projects === null ? null : JSON.stringify(key.projects)
    return sql`
      INSERT INTO api_keys (${KEY_COLUMNS}, hash)
      VALUES (${id}, ${org}, ${name}, ${role}, ${projects}, ${agent}, ${owner}, ${createdAt}, ${createdBy}, ${expiresAt},
        NULL, NULL, ${Number(key.captures)}, ${key.email ?? null}, ${key.limits?.requestsPerMinute ?? null},
        ${key.limits?.entriesPerDay ?? null}, ${key.countedAs ?? null}, ${hash})`
  }

  return {
    createOrg: ({ id, name, createdAt }, event) =>
      unlessTaken(id, sql`SELECT 1 FROM orgs WHERE id = ${id}`, alreadyExists('Organization', id), [
        sql`INSERT INTO orgs (id, name, created_at) VALUES (${id}, ${name}, ${createdAt})`,
        auditStatement(id, clock.now(), event),
      ]),

    async orgs(ids) {
      const named = ids ? sql` WHERE id IN ${jsonList(ids)}` : sql``
      return readOne(connection, sql`SELECT id, name, created_at FROM orgs${named} ORDER BY id`, each(toNamed))
    },

    createProject: (org, { id, name, createdAt }, event) =>
      unlessTaken(org, sql`SELECT 1 FROM projects WHERE org = ${org} AND id = ${id}`, alreadyExists('Project', id), [
        sql`INSERT INTO projects (org, id, name, created_at) VALUES (${org}, ${id}, ${name}, ${createdAt})`,
        ...ownName(org, id, event),
        auditStatement(org, clock.now(), event),
      ]),

    async owners(org) {
      return runOne(connection, sql`SELECT name FROM owners WHERE org = ${org}`, textsOf('name'))
    },

    async createKey(key, hash, event, newOwner) {
      const { org, owner, email } = key
      const taken = [
        ...(newOwner ? [sql`SELECT 1 FROM owners WHERE org = ${org} AND name = ${owner}`] : []),
        ...(email === undefined ? [] : [othersWithAddress(key)]),
      ]
      const statements = [
        sql`INSERT INTO owners (org, name) VALUES (${org}, ${owner}) ON CONFLICT DO NOTHING`,
        insertKey(key, hash),
        auditStatement(org, clock.now(), event),
      ]
      if (taken.length === 0) await new Batch(...statements).run(connection, { org })
      else
        await unlessTaken(
          org,
          sql.join(taken, sql` UNION ALL `),
          new Problem(
            'conflict',
            `Another key was created at the same moment; its owner is ${owner}, or it has this address`,
          ),
          statements,
        )
    },

    async keys(org) {
      return readOne(
        connection,
        sql`SELECT ${KEY_COLUMNS}, ${storedToday('k', clock.now())} AS stored_today FROM api_keys k WHERE k.org = ${org}
          ORDER BY k.created_at, k.id`,
        each(toKey),
      )
    },

    async keyByHash(hash) {
      return runOne(
        connection,
        sql`SELECT ${KEY_COLUMNS}, ${DIRECTORY_OF_KEY}, hash FROM api_keys WHERE hash = ${hash}`,
        firstRow((row) => ({ key: toKey(row), hash: str(row, 'hash') })),
      )
    },

    async keyById(id) {
      return readOne(
        connection,
        sql`SELECT ${KEY_COLUMNS}, ${DIRECTORY_OF_KEY} FROM api_keys WHERE id = ${id}`,
        firstRow(toKey),
      )
    },

    async replaceKey(old, endsAt, key, hash, event) {
      const { org } = key
      const replaced = unrevoked(org, [old])
      const now = clock.now()
      const ended =
        endsAt <= now
          ? sql`UPDATE api_keys SET revoked_at = ${now} WHERE ${replaced}`
          : sql`UPDATE api_keys SET expires_at = ${endsAt} WHERE ${replaced} AND (expires_at IS NULL OR ${endsAt} < expires_at)`
      const isDone = await whileAny(org, replaced, [
        sql`INSERT INTO guards (holds) SELECT NOT EXISTS (${othersWithAddress(key)})`,
        insertKey(key, hash),
        ended,
        auditStatement(org, now, event),
      ])
      if (isDone) return true
      const remaining = await runOne(connection, sql`SELECT 1 AS one FROM api_keys WHERE ${replaced}`, howMany)
      if (remaining === 0) return false
      throw addressInUse()
    },

    async keysByEmail(email) {
      return runOne(
        connection,
        sql`SELECT ${KEY_COLUMNS} FROM (
            SELECT k.*, row_number() OVER (PARTITION BY k.org ORDER BY k.created_at DESC, k.id) AS place
            FROM api_keys k WHERE k.email = ${email} AND ${usable()}
          ) newest WHERE place = 1 ORDER BY created_at DESC, id LIMIT ${MOST_OF_ADDRESS}`,
        each(toKey),
      )
    },

    async expiringKeys(from, until, limit) {
      return runOne(
        connection,
        sql`SELECT ${KEY_COLUMNS} FROM api_keys k
          WHERE k.revoked_at IS NULL AND k.expires_at BETWEEN ${from + 1} AND ${until} ORDER BY k.expires_at, k.id LIMIT ${limit}`,
        each(toKey),
      )
    },

    async revokeKeys(org, ids, at, event) {
      const revoked = unrevoked(org, ids)
      return whileAny(org, revoked, [
        sql`UPDATE api_keys SET revoked_at = ${at} WHERE ${revoked}`,
        auditStatement(org, clock.now(), event),
      ])
    },

    async setCaptures(org, id, captures, event) {
      const changed = unrevoked(org, [id])
      return whileAny(org, changed, [
        sql`UPDATE api_keys SET captures = ${Number(captures)} WHERE ${changed}`,
        auditStatement(org, clock.now(), event),
      ])
    },

    async setLimits(org, id, { requestsPerMinute, entriesPerDay }, event) {
      const changed = unrevoked(org, [id])
      return whileAny(org, changed, [
        sql`UPDATE api_keys SET rate_limit = ${requestsPerMinute}, max_entries = ${entriesPerDay} WHERE ${changed}`,
        auditStatement(org, clock.now(), event),
      ])
    },

    async keysNearQuota(org) {
      const now = clock.now()
      return readOne(
        connection,
        sql`SELECT ${sql.raw(COLUMNS_OF_KEY.map((name) => `k.${name}`).join(', '))}, u.entries AS stored_today ${nearQuota(now)} AND u.org = ${org}
          ORDER BY k.created_at, k.id`,
        each(toKey),
      )
    },

    async noteUse(id, at) {
      await new Batch(sql`UPDATE api_keys SET last_used_at = ${at} WHERE id = ${id}`).run(connection)
    },

    async hasKeys() {
      return (await runOne(connection, sql`SELECT 1 AS one FROM api_keys LIMIT 1`, howMany)) > 0
    },
  }
}
