import { sql } from 'drizzle-orm'
import type { ApiKey, Org, Project } from '../../../../domain/identity/identity'
import { ROLES } from '../../../../domain/identity/scope'
import type { Row } from '../../core/connection'
import { flag, jsonOrNull, num, numOrNull, oneOf, str, strOrNull } from '../../core/rows'

/** Rows of orgs, projects and keys. */

export const KEY_COLUMNS = sql.raw(
  'id, org, name, role, projects, agent, owner, created_at, created_by, expires_at, revoked_at, last_used_at, captures',
)

/** The version of the directory of projects of the key's org, read with the key so that names which are known cost no round trip. */
export const DIRECTORY_OF_KEY = sql.raw(`coalesce((
  SELECT c.seq FROM project_changes c WHERE c.org = api_keys.org ORDER BY c.seq DESC LIMIT 1), 0) AS directory`)

const roleOf = oneOf(ROLES)

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
  ...(row.directory === undefined ? {} : { directory: num(row, 'directory') }),
})

export const toNamed = (row: Row): Org & Project => ({
  id: str(row, 'id'),
  name: str(row, 'name'),
  createdAt: num(row, 'created_at'),
})
