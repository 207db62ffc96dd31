import type { AuditRow } from '../domain/identity/audit'
import type { ApiKey, Org, Project } from '../domain/identity/identity'
import type { Millis } from '../domain/time'

/** Serializes organizations, projects, keys and rows of the audit log for `/api/v1` (platform contract §5). */

const iso = (ms: Millis | null): string | null => (ms === null ? null : new Date(ms).toISOString())
export const showOrg = ({ id, name, createdAt }: Org) => ({ id, name, created_at: iso(createdAt) })
export const showProject = ({ id, name, createdAt }: Project) => ({ id, name, created_at: iso(createdAt) })

export const showKey = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  role: key.role,
  projects: key.projects,
  agent: key.agent,
  owner: key.owner,
  created_at: iso(key.createdAt),
  created_by: key.createdBy,
  expires_at: iso(key.expiresAt),
  revoked_at: iso(key.revokedAt),
  last_used_at: iso(key.lastUsedAt),
  capture: key.captures,
})

export const showEvent = ({ seq, at, keyId, agent, action, tool, ids, allowed, detail }: AuditRow) => ({
  seq,
  at: iso(at),
  key_id: keyId,
  agent,
  action,
  tool,
  ids,
  allowed,
  detail,
})
