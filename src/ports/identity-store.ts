import type { AuditEvent } from '../domain/identity/audit'
import type { ApiKey, Org, Project } from '../domain/identity/identity'
import type { Millis } from '../domain/time'

/**
 * Orgs, projects and keys. A method that writes commits together with the audit row of the event it is given. Failures:
 * `unavailable` when the database does not answer, as for the entry store.
 */
export interface IdentityStore {
  /** @throws Problem conflict when the id is taken */
  createOrg(org: Org, event: AuditEvent): Promise<void>
  /** By id; all of them, or those named. */
  orgs(ids?: readonly string[]): Promise<Org[]>

  /** @throws Problem conflict when the project has been created before */
  createProject(org: string, project: Project, event: AuditEvent): Promise<void>

  /** Every owner that a key of the org has or had, and those of entries that came from elsewhere. */
  owners(org: string): Promise<string[]>
  /**
   * @param hash SHA-256 of the key, hexadecimal
   * @param newOwner the key's owner must be one that nobody has or had
   * @throws Problem conflict when it is not
   */
  createKey(key: ApiKey, hash: string, event: AuditEvent, newOwner: boolean): Promise<void>
  /** Of one org, oldest first, revoked ones too. */
  keys(org: string): Promise<ApiKey[]>
  keyByHash(hash: string): Promise<{ readonly key: ApiKey; readonly hash: string } | null>
  keyById(id: string): Promise<ApiKey | null>
  /** Those that are not revoked yet. False when all of them were; then nothing is written. */
  revokeKeys(org: string, ids: readonly string[], at: Millis, event: AuditEvent): Promise<boolean>
  /** Notes that a key was in use; for maintenance, not audited. */
  noteUse(id: string, at: Millis): Promise<void>
  /** Whether any key was ever made. */
  hasKeys(): Promise<boolean>
}
